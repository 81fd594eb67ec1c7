// SPDX-License-Identifier: Apache-2.0

package instancetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keelson-dev/mysql-operator/internal/instance/marker"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// stored reads the marker of an instance whose manager does not run.
func (n *node) stored() marker.Record {
	n.w.t.Helper()
	s, err := marker.Open(n.setup.Paths.Marker())
	n.w.must(err)
	r, _ := s.Get()
	n.w.must(s.Close())
	return r
}

func (n *node) awaitExit() {
	n.w.t.Helper()
	n.w.eventually(n.name+"'s manager has ended", func() bool {
		select {
		case <-n.exited:
			return true
		default:
			return false
		}
	})
}

func (n *node) logged(text string) bool {
	n.w.t.Helper()
	raw, err := os.ReadFile(n.log)
	n.w.must(err)
	return strings.Contains(string(raw), text)
}

// replicaLeavesFirst: a replica that must stop waits until no commit can wait for it.
func replicaLeavesFirst(w *world) {
	l := w.write()
	l.progress(5)
	n := w.instances["db-2"]
	n.terminate()
	w.await("db-2", "it says that it must stop, and goes on acknowledging", func(s *wire.Snapshot) bool {
		return s.GetStopRequested() && s.GetState() == wire.State_STATE_STOPPING && s.GetServer().GetReplicaStatus()
	})
	w.shrink("db-2")
	w.sendReplica("db-2")
	n.awaitExit()
	l.progress(5)
	l.end()
	if r := n.stored(); !r.Clean {
		w.t.Errorf("the stop was not clean: %+v", r)
	}
	w.t.Logf("longest pause %s", l.gap)
	n.setup.BootID = "boot-2" // moved to another node
	n.start()
	w.await("db-2", "it is intact after a clean stop on another node", func(s *wire.Snapshot) bool {
		return s.GetState() == wire.State_STATE_RUNNING && s.GetIntact()
	})
	w.grow("db-2")
	w.equal()
	l.verify("db-2")
}

// primaryStopsCleanly: nothing waits, so the server is shut down, and comes back without a scan.
func primaryStopsCleanly(w *world) {
	n := w.instances["db-0"]
	uuid := w.snapshot("db-0").GetServer().GetServerUuid()
	n.terminate()
	n.awaitExit()
	if r := n.stored(); !r.Clean {
		w.t.Errorf("the stop was not clean: %+v", r)
	}
	n.start()
	s := w.await("db-0", "it is open again", func(s *wire.Snapshot) bool { return s.GetServer().GetOpen() })
	if s.GetServer().GetServerUuid() != uuid {
		w.t.Error("a clean stop changed the server_uuid")
	}
}

// primaryIsKilledWhileACommitWaits: a shutdown would commit what no replica has (ha-rules B6).
func primaryIsKilledWhileACommitWaits(w *world) {
	n := w.instances["db-0"]
	resume := w.instances["db-2"].pause()
	result := w.waiting("INSERT INTO ledger VALUES (1000001)")
	n.terminate()
	n.awaitExit()
	if err := <-result; err == nil {
		w.t.Error("a commit without an acknowledgement was reported as done")
	}
	if r := n.stored(); r.Clean || !n.logged("Killing mysqld: a commit waits") || n.logged("Forced shutdown") {
		w.t.Errorf("mysqld was not killed: clean %v", r.Clean)
	}
	resume()
	n.start()
	w.await("db-0", "it is open again", func(s *wire.Snapshot) bool { return s.GetServer().GetOpen() })
	w.equal()
}

// primaryThatHangsIsKilled: what a server waits for that does not answer cannot be told, and SIGTERM would acknowledge it.
func primaryThatHangsIsKilled(w *world) {
	n := w.instances["db-0"]
	n.pause()
	w.await("db-0", "it does not answer", func(s *wire.Snapshot) bool { return s.GetServer() == nil })
	n.terminate()
	n.awaitExit()
	if r := n.stored(); r.Clean {
		w.t.Error("the end is noted as a clean stop")
	}
	n.start()
	w.await("db-0", "it is open again", func(s *wire.Snapshot) bool { return s.GetServer().GetOpen() })
	w.equal()
}

func TestAnUnusableImageIsTold(t *testing.T) {
	w := newWorld(t, 1)
	n := w.instances["db-0"]
	n.setup.Paths.Mysqld = "/bin/false"
	n.start()
	s := w.await("db-0", "it is quarantined", inState(wire.State_STATE_QUARANTINED))
	if !strings.Contains(s.GetWhy(), "ask mysqld for its version") {
		t.Errorf("the reason is %q", s.GetWhy())
	}
	n.terminate()
	n.awaitExit()
}

// A fork without memory, a binary that is being replaced: one failure at the start must not bar an instance until
// somebody deletes its pod.
func TestAnImageThatBecomesUsableHeals(t *testing.T) {
	w := newWorld(t, 1)
	n := w.instances["db-0"]
	usable, program := n.setup.Paths.Mysqld, filepath.Join(t.TempDir(), "mysqld")
	script := func(line string) {
		if err := os.WriteFile(program+".new", []byte("#!/bin/sh\n"+line+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(program+".new", program); err != nil {
			t.Fatal(err)
		}
	}
	script("exit 1")
	n.setup.Paths.Mysqld = program
	n.start()
	w.await("db-0", "it is quarantined", inState(wire.State_STATE_QUARANTINED))
	script("exec " + usable + ` "$@"`)
	w.await("db-0", "it is empty and can be used", inState(wire.State_STATE_EMPTY))
	n.terminate()
	n.awaitExit()
}

// openPrimaryIsClosedByOrder although a commit waits: only the end of the process ends the wait unacknowledged.
func openPrimaryIsClosedByOrder(w *world) {
	resume := w.instances["db-2"].pause()
	result := w.waiting("INSERT INTO ledger VALUES (1000002)")
	w.cas(func(h *ha) { h.open = false })
	w.sendPrimary()
	if err := <-result; err == nil {
		w.t.Error("a commit without an acknowledgement was reported as done")
	}
	w.await("db-0", "it is closed", func(s *wire.Snapshot) bool {
		return w.applied(s) && s.GetServer().GetSuperReadOnly() && s.GetServer().GetOfflineMode() && !s.GetReady()
	})
	resume()
	w.openAll()
	w.equal()
}

// primaryIsClosedBeforeItStopsWaiting: one order closes it and lets no commit wait any more. Obeyed in the other order,
// the commit that waits would be reported as done without a copy.
func primaryIsClosedBeforeItStopsWaiting(w *world) {
	resume := w.instances["db-2"].pause()
	result := w.waiting("INSERT INTO ledger VALUES (1000003)")
	list := w.ha.list
	w.cas(func(h *ha) { h.open, h.list, h.waitFor = false, []string{"db-0"}, 0 })
	w.sendPrimary()
	if err := <-result; err == nil {
		w.t.Error("a commit without an acknowledgement was reported as done")
	}
	w.await("db-0", "it is closed and waits for nobody", func(s *wire.Snapshot) bool {
		return w.applied(s) && s.GetServer().GetSuperReadOnly() && !s.GetServer().GetSourceEnabled()
	})
	resume()
	w.cas(func(h *ha) { h.list, h.waitFor = list, len(list)-1 })
	w.openAll()
	w.equal()
}

// persistedVariablesDoNotCount: SET PERSIST would beat my.cnf, not the command line (ha-rules C5).
func persistedVariablesDoNotCount(w *world) {
	w.admin("db-1").exec("SET PERSIST super_read_only = 0, PERSIST read_only = 0, PERSIST offline_mode = 0")
	before := w.snapshot("db-1").GetServer().GetStartId()
	w.instances["db-1"].killMysqld()
	w.await("db-1", "it is back and read-only", func(s *wire.Snapshot) bool {
		return s.GetServer() != nil && s.GetServer().GetStartId() != before && s.GetServer().GetSuperReadOnly()
	})
	w.tellAll()
}

func TestLostSecretsHealAtTheNextStart(t *testing.T) {
	w := newWorld(t, 1)
	w.bootstrap()
	w.openAll()
	w.connect("db-0").exec("CREATE TABLE t (id INT PRIMARY KEY)")
	n := w.instances["db-0"]
	n.kill()
	for _, key := range []string{naming.KeyManagerPassword, naming.KeyClonePassword, naming.KeyCatchupPassword, naming.KeyAppPassword} {
		w.secrets[key] = `new\'"` + key
	}
	n.writeSecrets()
	n.start()
	w.await("db-0", "it is open with the new passwords", func(s *wire.Snapshot) bool { return s.GetServer().GetOpen() })
	w.connect("db-0").exec("INSERT INTO t VALUES (1)")
	w.admin("db-0").exec("SELECT 1")
}
