// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// wedged is how long the manager's loop may be without a pass. A pass is bounded by some ten deadlines of seconds.
const wedged = 2 * time.Minute

// Beat tells when the manager's loop last went round.
type Beat interface{ LastPass() time.Time }

// Probes answers the kubelet. Startup and liveness ask only whether the manager itself goes on: they never kill a
// mysqld that is recovering, cloning, or waiting (I8). Readiness is the snapshot's (I3).
func Probes(hub *Hub, beat Beat) http.Handler {
	mux := http.NewServeMux()
	alive := func(w http.ResponseWriter, _ *http.Request) {
		if since := time.Since(beat.LastPass()); since > wedged {
			http.Error(w, "the manager's loop has not gone round for "+since.Round(time.Second).String(), http.StatusServiceUnavailable)
			return
		}
		answer(w, "ok")
	}
	mux.HandleFunc("GET "+naming.ProbeStartup, alive)
	mux.HandleFunc("GET "+naming.ProbeLiveness, alive)
	mux.HandleFunc("GET "+naming.ProbeReadiness, func(w http.ResponseWriter, _ *http.Request) {
		s, _ := hub.Latest()
		if !s.GetReady() {
			http.Error(w, "not ready: "+s.GetState().String()+" "+s.GetWhy(), http.StatusServiceUnavailable)
			return
		}
		answer(w, "ok")
	})
	return mux
}

func answer(w http.ResponseWriter, text string) {
	_, _ = w.Write([]byte(text + "\n")) // whoever asked went away otherwise
}
