// SPDX-License-Identifier: Apache-2.0

package instancetest

import (
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

func writesAreOnAll(w *world) {
	c := w.connect(w.ha.primary)
	c.exec("CREATE TABLE t (id INT PRIMARY KEY)")
	c.exec("INSERT INTO t VALUES (1)")
	// Acknowledged means received by all: no instance needs to be waited for, only its applier.
	w.equal()
	for _, name := range []string{"db-1", "db-2"} {
		w.await(name, "it is ready", func(s *wire.Snapshot) bool { return s.GetReady() })
		if got := w.connect(name).query("SELECT id FROM t"); got != "1" {
			w.t.Errorf("%s has %q", name, got)
		}
	}
	s := w.snapshot(w.ha.primary).GetServer()
	if s.GetClients() != 2 || !s.GetSourceStatus() || s.GetWaitFor() != 2 {
		w.t.Errorf("the primary waits for %d of %d replicas", s.GetWaitFor(), s.GetClients())
	}
}
