// SPDX-License-Identifier: Apache-2.0

package instancetest

import (
	"context"
	"testing"

	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// TestDonors: who gives a clone, and what a clone may replace.
func TestDonors(t *testing.T) {
	w := newWorld(t, 3)
	w.build(2)
	w.connect("db-0").exec("CREATE TABLE ledger (id INT PRIMARY KEY)")
	for _, scenario := range []struct {
		name string
		run  func(*world)
	}{
		{"a replica gives a clone with its applier stopped", lendReplica},
		{"a clone can be taken from a replica", cloneFromReplica},
		{"a clone replaces only the data it names", reprovision},
		{"a node reset is seen", nodeReset},
	} {
		ok := t.Run(scenario.name, func(t *testing.T) {
			w.t = t
			scenario.run(w)
		})
		w.t = t
		if !ok {
			t.Fatal("what follows would build on a cluster in an unknown state")
		}
	}
}

func lendReplica(w *world) {
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	recipient := w.dial("db-1", instanceIdentity("db-2"))
	stream, err := recipient.LendClone(ctx, &wire.LendCloneRequest{Recipient: "db-2"})
	w.must(err)
	reply, err := stream.Recv()
	w.must(err)
	if !reply.GetReady() {
		w.t.Error("the donor is not ready")
	}
	w.await("db-1", "its applier is stopped", func(s *wire.Snapshot) bool { return s.GetLending() && !s.GetServer().GetApplierRunning() })
	w.connect("db-0").exec("INSERT INTO ledger VALUES (1)") // it is received and acknowledged all the same
	second, err := recipient.LendClone(ctx, &wire.LendCloneRequest{Recipient: "db-3"})
	w.must(err)
	_, err = second.Recv()
	w.wantCode(err, "FailedPrecondition")
	cancel() // the recipient is gone
	w.await("db-1", "its applier runs again", func(s *wire.Snapshot) bool { return !s.GetLending() && s.GetServer().GetApplierRunning() })
	w.equal()
}

func cloneFromReplica(w *world) {
	w.instances["db-2"].start()
	w.awaitEmpty("db-2")
	_, err := w.pool.Clone(w.t.Context(), w.instances["db-2"].key(), w.cloneOrder("db-1", ""))
	w.must(err)
	w.learn("db-2")
	w.grow("db-2")
	w.equal()
	if got := w.admin("db-2").query("SELECT COUNT(*) FROM performance_schema.replication_connection_configuration WHERE HOST = '127.0.0.1'"); got != "1" {
		w.t.Errorf("db-2 has %s channels", got)
	}
}

func reprovision(w *world) {
	n, old := w.instances["db-2"], w.ha.incarnations["db-2"]
	uuid := w.snapshot("db-2").GetServer().GetServerUuid()
	_, err := w.pool.Clone(w.t.Context(), n.key(), w.cloneOrder("db-0", "another"))
	w.wantCode(err, "FailedPrecondition")
	w.shrink("db-2")
	_, err = w.pool.Clone(w.t.Context(), n.key(), w.cloneOrder("db-0", old))
	w.must(err)
	s := w.await("db-2", "it has new data", func(s *wire.Snapshot) bool {
		return s.GetState() == wire.State_STATE_RUNNING && s.GetMarker().GetInitialized() && s.GetMarker().GetIncarnation() != old && s.GetServer() != nil
	})
	w.learn("db-2")
	if s.GetServer().GetServerUuid() == uuid {
		w.t.Error("the new incarnation has the old server_uuid (ha-rules F6)")
	}
	w.grow("db-2")
	w.equal()
}

func nodeReset(w *world) {
	n := w.instances["db-2"]
	n.kill()
	resume := w.instances["db-0"].pause() // so that it cannot catch up
	n.setup.BootID = "boot-2"
	n.start()
	s := w.await("db-2", "it runs again", func(s *wire.Snapshot) bool { return s.GetState() == wire.State_STATE_RUNNING && s.GetServer() != nil })
	if s.GetIntact() {
		w.t.Error("after a node reset it claims to have everything it acknowledged (ha-rules A5b)")
	}
	resume()
	w.await("db-2", "it has all that its source had", func(s *wire.Snapshot) bool { return s.GetIntact() })

	before := w.snapshot("db-0").GetServer().GetServerUuid()
	n = w.instances["db-0"]
	n.kill()
	n.setup.BootID = "boot-2"
	n.start()
	s = w.await("db-0", "it is open again", func(s *wire.Snapshot) bool { return s.GetServer().GetOpen() })
	if s.GetServer().GetServerUuid() == before || !s.GetIntact() {
		w.t.Errorf("a primary after a node reset: intact %v, server_uuid %s as before", s.GetIntact(), s.GetServer().GetServerUuid())
	}
	w.connect("db-0").exec("INSERT INTO ledger VALUES (2)")
	w.equal()
}

// TestAnyUser runs two instances as users that nobody has heard of, as OpenShift does.
func TestAnyUser(t *testing.T) {
	w := newWorld(t, 2)
	w.instances["db-0"].runAs(t, 1234567)
	w.instances["db-1"].runAs(t, 7654321)
	w.build(2)
	w.connect("db-0").exec("CREATE TABLE ledger (id INT PRIMARY KEY)")
	w.connect("db-0").exec("INSERT INTO ledger VALUES (1)")
	w.equal()
}
