// SPDX-License-Identifier: Apache-2.0

package instancetest

import (
	"testing"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/wire"
)

func TestBootstrapOfThree(t *testing.T) {
	w := newWorld(t, 3)
	begin := time.Now()
	w.build(3)
	t.Logf("three instances in sync and open after %s", time.Since(begin).Round(time.Millisecond))
	c := w.connect(w.ha.primary)
	c.exec("CREATE TABLE t (id INT PRIMARY KEY)")
	c.exec("INSERT INTO t VALUES (1)")
	p := w.await(w.ha.primary, "the write is executed", func(s *wire.Snapshot) bool { return s.GetGtid().GetExecuted() != "" })
	for _, name := range []string{"db-1", "db-2"} {
		w.await(name, "its set equals the primary's", func(s *wire.Snapshot) bool {
			return set(s.GetGtid().GetExecuted()).Equal(set(w.snapshot(w.ha.primary).GetGtid().GetExecuted())) && s.GetReady()
		})
		if got := w.connect(name).query("SELECT id FROM t"); got != "1" {
			t.Errorf("%s has %q", name, got)
		}
	}
	if p.GetServer().GetClients() != 2 || !p.GetServer().GetSourceStatus() || p.GetServer().GetWaitFor() != 2 {
		t.Errorf("the primary waits for %d of %d replicas", p.GetServer().GetWaitFor(), p.GetServer().GetClients())
	}
}
