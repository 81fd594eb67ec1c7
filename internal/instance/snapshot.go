// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"reflect"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
	"github.com/keelson-dev/mysql-operator/internal/instance/marker"
	"github.com/keelson-dev/mysql-operator/internal/instance/server"
	"github.com/keelson-dev/mysql-operator/internal/mysql"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// board is what the snapshots are made from: what the loop saw last. Publishing is serialised by it, so that a
// snapshot never tells of an older order than one before it.
type board struct {
	mu   sync.Mutex
	view view
}

type view struct {
	phase       wire.State
	why         string
	answering   bool
	startID     string
	status      mysql.Status
	version     string
	applied     *marker.Order
	barrier     *gtid.Set
	opened      bool
	intact      bool
	attached    bool
	offline     *gtid.Set
	incarnation string // of offline
	restarts    int
	// receiverDown is how long the receiver has not been connected.
	receiverDown time.Duration
}

// publish tells what the loop saw.
func (m *Manager) publish() {
	v := view{
		phase: m.phase, why: m.why, answering: m.answering, intact: m.intact, attached: m.attached,
		version: m.launcher.Version.String(), restarts: m.restarts,
	}
	if m.server != nil && m.answering {
		v.receiverDown = m.receiverDown()
		v.startID, v.status, v.applied, v.opened = m.server.StartID, m.status, m.applied, m.memory.Opened()
		if b, ok := m.memory.Barrier(); ok {
			v.barrier = &b
		}
	}
	if m.offline != nil && m.offline.done() {
		v.offline = m.offline.set
		rec, _ := m.store.Get()
		v.incarnation = rec.Incarnation
	}
	m.board.mu.Lock()
	defer m.board.mu.Unlock()
	m.board.view = v
	m.hub.Publish(m.snapshot(v))
}

// receiverDown is how long the receiver of this server has not been connected; 0 while it is, and without a source.
// With it the operator, the other witness, tells a member that is cut off from one that connects again.
func (m *Manager) receiverDown() time.Duration {
	c := m.status.Channel
	if !c.Configured || c.Receiver == mysql.ReceiverConnected {
		m.receiverLost = time.Time{}
		return 0
	}
	if m.receiverLost.IsZero() {
		m.receiverLost = time.Now()
	}
	return max(time.Millisecond, time.Since(m.receiverLost))
}

// republish tells of an order that was stored just now.
func (m *Manager) republish() {
	m.board.mu.Lock()
	defer m.board.mu.Unlock()
	m.hub.Publish(m.snapshot(m.board.view))
}

// snapshot builds the message. board is locked.
func (m *Manager) snapshot(v view) *wire.Snapshot {
	s := &wire.Snapshot{
		Instance: m.cfg.Instance, State: v.phase, Why: v.why, ManagerId: m.id, BootId: m.cfg.BootID,
		ManagerVersion: m.cfg.Version, MysqlVersion: v.version, Intact: v.intact,
	}
	m.fillInbox(s)
	if m.store == nil {
		return s
	}
	rec, found := m.store.Get()
	if found {
		s.Marker = rec.Wire()
	}
	// A role whose order has been replaced meanwhile is not what is in effect.
	inEffect := v.applied != nil && reflect.DeepEqual(*v.applied, rec.Order)
	if inEffect {
		s.AppliedEpoch, s.AppliedRevision = rec.Order.Epoch, rec.Order.Revision
	}
	switch {
	case v.answering:
		s.Gtid, s.Server = wireSets(v.status), wireServer(v)
		if inEffect && v.barrier != nil {
			s.Server.Barrier = v.barrier.String()
		}
	case v.offline != nil && v.incarnation == rec.Incarnation:
		s.Gtid, s.Offline = &wire.GTIDs{Executed: v.offline.String()}, true
	}
	s.Ready = ready(v, rec)
	return s
}

func (m *Manager) fillInbox(s *wire.Snapshot) {
	m.inbox.mu.Lock()
	defer m.inbox.mu.Unlock()
	s.StopRequested, s.Lending = m.inbox.stop, m.inbox.lend != nil
	j := m.inbox.job
	if j == nil {
		return
	}
	s.State, s.Why = j.phase, ""
	if j.phase == wire.State_STATE_CLONING {
		s.Clone = &wire.CloneProgress{Donor: j.donor}
	}
	if p := j.progress.Load(); p != nil && s.Clone != nil {
		s.Clone.Stage, s.Clone.Bytes, s.Clone.Estimate = p.Stage, p.Bytes, p.Estimate
	}
}

// ready is what the readiness probe answers (I3): an open primary, or a replica with complete data that was attached
// once. How far it lags does not matter.
func ready(v view, rec marker.Record) bool {
	if !v.answering || !rec.Initialized || v.phase != wire.State_STATE_RUNNING {
		return false
	}
	switch rec.Order.Role { //nolint:exhaustive // the others are not ready
	case wire.Role_ROLE_PRIMARY:
		return isOpen(v)
	case wire.Role_ROLE_REPLICA:
		return v.attached && !v.status.Offline
	}
	return false
}

func isOpen(v view) bool {
	return v.opened && !v.status.ReadOnly && !v.status.SuperReadOnly && !v.status.Offline
}

func wireServer(v view) *wire.Server {
	st, c := v.status, v.status.Channel
	return &wire.Server{
		StartId: v.startID, ServerUuid: st.ServerUUID, ServerId: st.ServerID,
		ReadOnly: st.ReadOnly, SuperReadOnly: st.SuperReadOnly, OfflineMode: st.Offline,
		SourceEnabled: st.SourceEnabled, SourceStatus: st.SourceStatus,
		WaitFor: count(st.WaitFor), Clients: count(st.Clients), WaitSessions: count(st.WaitSessions),
		DumpAccounts: dumpAccounts(st), Open: isOpen(v),
		ReplicaEnabled: st.ReplicaEnabled, ReplicaStatus: st.ReplicaStatus,
		SourceHost: c.SourceHost, Receiver: receiver(c), ApplierRunning: c.Applier,
		ReceiverError: c.ReceiverError, ApplierError: c.ApplierError, NeedsClone: c.NeedsClone(),
		LagMilliseconds: lag(st), ReceiverDownMilliseconds: v.receiverDown.Milliseconds(),
	}
}

func count(n int) int32 { return int32(min(n, 1<<30)) } //nolint:gosec // bounded

func dumpAccounts(st mysql.Status) []string {
	var out []string
	for _, d := range st.Dumps {
		out = append(out, d.User)
	}
	slices.Sort(out)
	return out
}

func receiver(c mysql.Channel) wire.ReceiverState {
	switch {
	case !c.Configured || c.Receiver == mysql.ReceiverOff:
		return wire.ReceiverState_RECEIVER_STATE_OFF
	case c.Receiver == mysql.ReceiverConnected:
		return wire.ReceiverState_RECEIVER_STATE_CONNECTED
	}
	return wire.ReceiverState_RECEIVER_STATE_CONNECTING
}

// lag is 0 when all that was received is applied, whatever the clocks say.
func lag(st mysql.Status) int64 {
	switch {
	case !st.Channel.Configured, st.Executed.Contains(st.Channel.Received):
		return 0
	case st.Channel.LagSeconds < 0:
		return -1
	}
	return st.Channel.LagSeconds * 1000
}

// usage is what the metrics tell beside the snapshot.
func (m *Manager) usage() server.Usage {
	m.board.mu.Lock()
	u := server.Usage{Restarts: m.board.view.restarts}
	m.board.mu.Unlock()
	var fs unix.Statfs_t
	if unix.Statfs(m.cfg.Paths.Data, &fs) == nil {
		u.DiskSize = int64(fs.Blocks) * fs.Bsize //nolint:gosec // a volume has fewer than 2^63 bytes
		u.DiskFree = int64(fs.Bavail) * fs.Bsize //nolint:gosec // a volume has fewer than 2^63 bytes
	}
	return u
}
