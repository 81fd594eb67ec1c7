// SPDX-License-Identifier: Apache-2.0

package instancetest

import (
	"strings"
	"testing"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// behind executes a statement on a replica that nobody else hears of.
func (w *world) behind(name, statement string) {
	w.t.Helper()
	// The manager closes the server again at its next look, so it may take more than one attempt.
	w.eventually(statement, func() bool {
		conn, err := w.admin(name).db.Conn(w.t.Context())
		w.must(err)
		defer func() { _ = conn.Close() }() // it was only for this
		for _, one := range []string{"SET GLOBAL super_read_only = 0, SESSION sql_log_bin = 0", statement} {
			if _, err := conn.ExecContext(w.t.Context(), one); err != nil {
				return false
			}
		}
		return true
	})
}

// steady checks every snapshot for a while: the operator acts on a single one.
func (w *world) steady(name, what string, cond func(*wire.Snapshot) bool) {
	w.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 150 {
		<-tick.C
		if s := w.snapshot(name); s != nil && !cond(s) {
			w.t.Fatalf("%s: not steadily so: %s; it says %v", name, what, s)
		}
	}
}

// A replica that cannot apply, and then one whose source has purged what it lacks, say so steadily: both were seen to
// alternate with each attempt, and the second was not recognised at all.
func TestAReplicaThatIsBrokenSaysSoSteadily(t *testing.T) {
	w := newWorld(t, 2)
	w.bootstrap()
	w.openAll()
	c := w.connect("db-0")
	c.exec("CREATE TABLE t (id INT PRIMARY KEY)")
	w.clone("db-1")
	w.catchUp("db-1")
	w.behind("db-1", "INSERT INTO app.t VALUES (1)")
	before := time.Now()
	c.exec("INSERT INTO t VALUES (1)")
	broken := func(s *wire.Snapshot) bool {
		return !s.GetServer().GetApplierRunning() && strings.Contains(s.GetServer().GetApplierError(), "failed executing")
	}
	w.await("db-1", "its applier is broken", broken)
	if took := time.Since(before); took < 5*time.Second {
		t.Errorf("it is given up after %s: some errors go away by themselves", took)
	}
	w.steady("db-1", "its applier is broken", broken)
	w.behind("db-1", "DELETE FROM app.t WHERE id = 1")
	w.await("db-1", "it applies again", func(s *wire.Snapshot) bool {
		return s.GetServer().GetApplierRunning() && s.GetServer().GetApplierError() == ""
	})
	if got := w.admin("db-1").query("SELECT COUNT(*) FROM app.t"); got != "1" {
		t.Errorf("db-1 has %s of 1 row", got)
	}

	w.instances["db-1"].kill()
	c.exec("INSERT INTO t VALUES (2)")
	w.admin("db-0").exec("FLUSH BINARY LOGS")
	w.eventually("the binlogs are purged", func() bool {
		w.admin("db-0").exec("PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY")
		return !strings.Contains(w.admin("db-0").query("SHOW BINARY LOGS"), "\n")
	})
	w.instances["db-1"].start()
	needsClone := func(s *wire.Snapshot) bool { return s.GetServer().GetNeedsClone() }
	w.await("db-1", "it needs a clone", needsClone)
	w.steady("db-1", "it needs a clone", needsClone)
}
