// SPDX-License-Identifier: Apache-2.0

package instancetest

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// pause stops the instance's mysqld with SIGSTOP, so that it acknowledges nothing and keeps its connections.
func (n *node) pause() (resume func()) {
	n.w.t.Helper()
	pid := n.mysqldPID()
	n.w.must(syscall.Kill(pid, syscall.SIGSTOP))
	done := false
	resume = func() {
		if !done {
			done = true
			n.w.must(syscall.Kill(pid, syscall.SIGCONT))
		}
	}
	n.w.t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	return resume
}

// waiting begins a statement on the primary that cannot be acknowledged, and returns once it waits.
func (w *world) waiting(statement string) <-chan error {
	w.t.Helper()
	c := w.connect(w.ha.primary)
	w.must(c.db.Ping())
	done := make(chan error, 1)
	go func() { done <- c.try(statement) }()
	w.awaitWaiting(statement)
	return done
}

// awaitWaiting waits until the statement waits for an acknowledgement, as the server itself tells.
func (w *world) awaitWaiting(statement string) {
	w.t.Helper()
	server := w.admin(w.ha.primary)
	w.eventually("a commit waits", func() bool {
		info := server.query("SELECT INFO FROM performance_schema.processlist WHERE STATE LIKE 'Waiting for semi-sync ACK%'")
		return strings.Contains(info, statement)
	})
}

func replicaCrashes(w *world) {
	l := w.write()
	l.progress(20)
	before := w.snapshot("db-2").GetServer().GetStartId()
	w.instances["db-2"].killMysqld()
	w.shrink("db-2")
	l.progress(20)
	w.await("db-2", "it runs again", func(s *wire.Snapshot) bool {
		return s.GetState() == wire.State_STATE_RUNNING && s.GetServer() != nil && s.GetServer().GetStartId() != before
	})
	w.grow("db-2")
	l.progress(20)
	l.end()
	w.t.Logf("%d rows acknowledged, longest pause %s", l.count(), l.gap.Round(time.Millisecond))
	w.equal()
	for _, name := range w.ha.inSync {
		l.verify(name)
	}
}

func primaryCrashes(w *world) {
	uuid := w.snapshot("db-0").GetServer().GetServerUuid()
	resume := w.instances["db-2"].pause()
	result := w.waiting("INSERT INTO ledger VALUES (2000001)")
	w.instances["db-0"].killMysqld()
	if err := <-result; err == nil {
		w.t.Error("a commit without an acknowledgement was reported as done")
	}
	w.await("db-0", "it is offline and tells its set", func(s *wire.Snapshot) bool {
		return s.GetState() == wire.State_STATE_OFFLINE && s.GetOffline() && s.GetGtid() != nil
	})
	w.sendPrimary()
	s := w.await("db-0", "it waits for its members", func(s *wire.Snapshot) bool {
		return w.applied(s) && strings.Contains(s.GetWhy(), "db-2")
	})
	if s.GetServer().GetOpen() || s.GetReady() || !s.GetServer().GetOfflineMode() || !s.GetServer().GetSuperReadOnly() {
		w.t.Errorf("it is not closed: %v", s.GetServer())
	}
	if s.GetServer().GetServerUuid() != uuid {
		w.t.Error("it took a new server_uuid although it knows every GTID of its binlog (F13)")
	}
	resume()
	w.await("db-0", "it is open", func(s *wire.Snapshot) bool { return s.GetServer().GetOpen() })
	w.connect("db-0").exec("INSERT INTO ledger VALUES (2000002)")
	w.equal()
	if got := w.admin("db-2").query("SELECT COUNT(*) FROM app.ledger WHERE id > 2000000"); got != "2" {
		w.t.Errorf("db-2 has %s of 2 rows", got)
	}
}

// A statement about accounts waits for a replica that lost its connection: nobody can log in, the replica neither, and
// only the end of the process frees it (ha-rules B1).
func frozenLogins(w *world) {
	w.instances["db-2"].pause()
	c := w.admin("db-0")
	w.await("db-0", "nothing waits yet", func(s *wire.Snapshot) bool { return s.GetServer().GetWaitSessions() == 0 })
	result := make(chan error, 1)
	go func() { result <- c.try("CREATE USER frozen@'%' IDENTIFIED BY 'x'") }()
	// Only the manager can see it: it keeps its connections open.
	w.await("db-0", "the statement waits", func(s *wire.Snapshot) bool {
		return s.GetServer().GetWaitSessions() > 0 && s.GetGtid().GetOwned() != ""
	})
	start := w.snapshot("db-0").GetServer().GetStartId()
	w.instances["db-2"].killMysqld()
	if err := <-result; err == nil {
		w.t.Error("a statement without an acknowledgement was reported as done")
	}
	w.await("db-0", "it is open again", func(s *wire.Snapshot) bool {
		return s.GetServer().GetOpen() && s.GetServer().GetStartId() != start
	})
	if !w.instances["db-0"].logged("since nobody can") {
		w.t.Error("it was not killed for the frozen logins")
	}
	w.equal()
}

// The list shrinks while a statement about accounts waits for an acknowledgement: what the manager has to say about
// accounts waits behind it, and no member could log in (ha-rules B1).
func shrinkBehindAnAccountStatement(w *world) {
	resume := w.instances["db-1"].pause()
	c := w.admin("db-0")
	result := make(chan error, 1)
	go func() { result <- c.try("CREATE USER behind@'%' IDENTIFIED BY 'x'") }()
	w.await("db-0", "the statement waits", func(s *wire.Snapshot) bool {
		return s.GetServer().GetWaitSessions() > 0 && s.GetGtid().GetOwned() != ""
	})
	w.shrink("db-1")
	if err := <-result; err == nil {
		w.t.Error("a statement without an acknowledgement was reported as done")
	}
	w.await("db-0", "it is open", func(s *wire.Snapshot) bool { return s.GetServer().GetOpen() })
	if !w.instances["db-0"].logged("waits behind a commit") {
		w.t.Error("it was not killed for the statement that waited")
	}
	resume()
	w.grow("db-1")
	w.equal()
}

// A statement without an InnoDB transaction waits for its ACK, the binlog is rotated, the server crashes: it forgets
// the GTID, and would give it out again (ha-rules A2).
func forgottenGTID(w *world) {
	resume := w.instances["db-2"].pause()
	result := w.waiting("ANALYZE TABLE ledger")
	forgotten := w.await("db-0", "the statement owns a GTID", func(s *wire.Snapshot) bool { return s.GetGtid().GetOwned() != "" }).GetGtid().GetOwned()
	w.admin("db-0").exec("FLUSH BINARY LOGS")
	before, start := w.snapshot("db-0").GetServer().GetServerUuid(), w.snapshot("db-0").GetServer().GetStartId()
	w.instances["db-0"].killMysqld()
	<-result
	resume()
	// Its members confirm the role, so no order is needed.
	s := w.await("db-0", "it is open again", func(s *wire.Snapshot) bool {
		return s.GetServer().GetOpen() && s.GetServer().GetStartId() != start
	})
	if s.GetServer().GetServerUuid() == before {
		w.t.Error("it kept its server_uuid although it had forgotten a GTID")
	}
	if !set(s.GetGtid().GetExecuted()).Contains(set(forgotten)) {
		w.t.Errorf("executed %s lacks the statement's %s", s.GetGtid().GetExecuted(), forgotten)
	}
	w.connect("db-0").exec("INSERT INTO ledger VALUES (3000001)")
	w.equal()
	if got := w.admin("db-1").query("SELECT COUNT(*) FROM app.ledger WHERE id = 3000001"); got != "1" {
		w.t.Errorf("db-1 has %s of 1 row", got)
	}
}

func primaryResumes(w *world) {
	l := w.write()
	l.progress(5)
	w.instances["db-0"].kill()
	w.instances["db-0"].start() // and no order is sent
	w.await("db-0", "it has opened by itself", func(s *wire.Snapshot) bool { return s.GetServer().GetOpen() })
	l.progress(5)
	l.end()
	w.equal()
	l.verify("db-1")
}

// logsAreMarked: what is complete before a rotation is remembered, so that a scan begins after it.
func logsAreMarked(w *world) {
	server := w.admin("db-0")
	server.exec("FLUSH BINARY LOGS")
	file, _, _ := strings.Cut(server.query("SHOW BINARY LOG STATUS"), "\t")
	w.eventually("the file is marked", func() bool {
		mark := w.instances["db-0"].stored().Logs
		return mark != nil && mark.File == file
	})
}

func TestPrimaryStaysOfflineWhenAPeerKnowsBetter(t *testing.T) {
	w := newWorld(t, 2)
	w.build(2)
	w.instances["db-0"].kill()
	w.cas(func(h *ha) { h.epoch++ })
	w.sendReplica("db-1") // of the same primary, in the next epoch
	w.instances["db-0"].start()
	w.await("db-0", "it says who knows better", func(s *wire.Snapshot) bool {
		return s.GetState() == wire.State_STATE_OFFLINE && strings.Contains(s.GetWhy(), "db-1 has stored a newer order")
	})
	w.instances["db-1"].kill()
	w.await("db-0", "it misses db-1", func(s *wire.Snapshot) bool {
		return s.GetState() == wire.State_STATE_OFFLINE && strings.Contains(s.GetWhy(), "db-1 does not answer")
	})
	w.sendPrimary()
	w.await("db-0", "the operator's word starts it", func(s *wire.Snapshot) bool { return s.GetState() == wire.State_STATE_RUNNING })
}

func TestInterruptedCloneLeavesAnEmptyInstance(t *testing.T) {
	w := newWorld(t, 2)
	w.bootstrap()
	n := w.instances["db-1"]
	n.start()
	w.awaitEmpty("db-1")
	_, err := w.pool.Clone(t.Context(), n.key(), w.cloneOrder("db-0", ""))
	w.must(err)
	w.await("db-1", "the clone is under way", func(s *wire.Snapshot) bool { return s.GetClone() != nil })
	n.kill()
	n.start()
	s := w.await("db-1", "it is empty again", inState(wire.State_STATE_EMPTY))
	if s.GetReady() || s.GetMarker().GetInitialized() || s.GetMarker().GetEpoch() != w.ha.epoch {
		t.Errorf("after an interrupted clone: ready %v, marker %v", s.GetReady(), s.GetMarker())
	}
	_, err = w.pool.SetRole(t.Context(), n.key(), w.replicaOrder())
	w.wantCode(err, "FailedPrecondition")
	w.clone("db-1")
	w.grow("db-1")
}
