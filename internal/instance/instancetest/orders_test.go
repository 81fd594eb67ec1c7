// SPDX-License-Identifier: Apache-2.0

package instancetest

import (
	"testing"

	"google.golang.org/grpc/status"

	"github.com/keelson-dev/mysql-operator/internal/wire"
)

func (w *world) wantCode(err error, want string) {
	w.t.Helper()
	if got := status.Code(err).String(); got != want {
		w.t.Errorf("got %s (%v), want %s", got, err, want)
	}
}

func TestOrdersThatAreRefused(t *testing.T) {
	w := newWorld(t, 2)
	w.bootstrap()
	key := w.instances["db-0"].key()
	send := func(change func(*wire.RoleOrder)) error {
		o := w.primaryOrder()
		o.Open = false
		change(o)
		_, err := w.pool.SetRole(t.Context(), key, o)
		return err
	}
	w.wantCode(send(func(o *wire.RoleOrder) { o.Order.Revision-- }), "Aborted")
	w.wantCode(send(func(o *wire.RoleOrder) { o.Order.Epoch-- }), "InvalidArgument")
	w.wantCode(send(func(o *wire.RoleOrder) { o.Order.ClusterUid = "another" }), "FailedPrecondition")
	w.wantCode(send(func(o *wire.RoleOrder) {
		o.Order.Primary, o.Role, o.Source, o.SourceHost, o.SourcePort = "db-1", wire.Role_ROLE_REPLICA, "db-1", "h", 1
	}), "Aborted")
	w.wantCode(send(func(o *wire.RoleOrder) {
		o.Members, o.WaitFor, o.Replaces = append(o.Members, &wire.Member{Name: "db-1"}), 1, nil
	}), "Aborted")
	w.wantCode(send(func(*wire.RoleOrder) {}), "OK")
	_, err := w.pool.Initialize(t.Context(), key, &wire.InitializeOrder{Order: w.header()})
	w.wantCode(err, "FailedPrecondition")
	_, err = w.pool.Clone(t.Context(), key, &wire.CloneOrder{Order: w.header(), Donor: "db-1", DonorHost: "127.0.0.1", DonorPort: 1})
	w.wantCode(err, "FailedPrecondition")
	s := w.snapshot("db-0")
	if s.GetState() != wire.State_STATE_RUNNING || !s.GetMarker().GetInitialized() {
		t.Errorf("refused orders changed something: %v", s)
	}
}

// What a fenced instance holds may be all that is left of a cluster, and others decide by it.
func TestAFencedInstanceTellsItsSet(t *testing.T) {
	w := newWorld(t, 1)
	w.bootstrap()
	w.openAll()
	w.connect("db-0").exec("CREATE TABLE t (id INT PRIMARY KEY)")
	has := w.admin("db-0").query("SELECT @@GLOBAL.gtid_executed")
	w.cas(func(*ha) {})
	_, err := w.pool.SetRole(t.Context(), w.instances["db-0"].key(), &wire.RoleOrder{Order: w.header(), Role: wire.Role_ROLE_FENCED})
	w.must(err)
	w.await("db-0", "it is fenced and tells all it has", func(s *wire.Snapshot) bool {
		return s.GetState() == wire.State_STATE_FENCED && s.GetOffline() && held(s).Contains(set(has))
	})
}
