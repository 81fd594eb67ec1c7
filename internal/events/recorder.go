// SPDX-License-Identifier: Apache-2.0

package events

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
)

const (
	// quiet is how long the same event of the same cluster is not said again.
	quiet = 5 * time.Minute
	// remembered bounds the memory of what was said: 1,000 clusters with four events each.
	remembered = 4096
	// maxNote is the longest note the API server takes (events.k8s.io/v1).
	maxNote = 1024
)

// Recorder publishes events, each at most once in a while.
type Recorder struct {
	sink  events.EventRecorder
	clock clock.PassiveClock

	mu   sync.Mutex
	said map[key]time.Time
}

// key is what makes two events the same.
type key struct {
	cluster types.UID
	event   Event
}

// NewRecorder returns a recorder that publishes through sink.
func NewRecorder(sink events.EventRecorder, c clock.PassiveClock) *Recorder {
	return &Recorder{sink: sink, clock: c, said: map[key]time.Time{}}
}

// Publish publishes the events of one cluster that were not published lately.
func (r *Recorder) Publish(cluster *mysqlv1.MySQLCluster, list []Event) {
	for _, e := range list {
		if r.isNews(key{cluster.UID, e}) {
			r.sink.Eventf(cluster, nil, e.Type, string(e.Reason), e.Action, "%s", cut(e.Note))
		}
	}
}

func (r *Recorder) isNews(k key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	if at, ok := r.said[k]; ok && now.Sub(at) < quiet {
		return false
	}
	if len(r.said) >= remembered {
		r.forget(now)
	}
	r.said[k] = now
	return true
}

// forget drops what is older than quiet, or everything: saying something twice is better than growing for ever.
func (r *Recorder) forget(now time.Time) {
	for k, at := range r.said {
		if now.Sub(at) >= quiet {
			delete(r.said, k)
		}
	}
	if len(r.said) >= remembered {
		clear(r.said)
	}
}

func cut(note string) string {
	if len(note) <= maxNote {
		return note
	}
	end := maxNote
	for end > 0 && note[end]&0xC0 == 0x80 { // not inside a character
		end--
	}
	return note[:end]
}
