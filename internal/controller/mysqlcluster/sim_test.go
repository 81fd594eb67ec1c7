// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/keelson-dev/mysql-operator/internal/instance/client"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/planner"
	"github.com/keelson-dev/mysql-operator/internal/planner/plannertest"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// simInstances are the Instances of one simulated cluster: the planner's model of instances, spoken to through the
// messages that real ones get.
type simInstances struct {
	mu      sync.Mutex
	clock   clock.PassiveClock
	cluster types.NamespacedName
	world   *plannertest.World
	tracked map[string]types.UID
	orders  int
	// passwords are the last that each instance was given, by instance, of itself and of others.
	passwords map[string][]string
	changes   chan client.Key
}

var _ Instances = (*simInstances)(nil)

func newSim(cluster types.NamespacedName, n int, c clock.PassiveClock) *simInstances {
	world := plannertest.New(n, min(n, 2))
	for _, i := range world.Instances {
		i.Pod = false
	}
	return &simInstances{
		clock: c, cluster: cluster, world: world, tracked: map[string]types.UID{}, passwords: map[string][]string{},
		changes: make(chan client.Key, 1),
	}
}

func (s *simInstances) Track(key client.Key, target Target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if target.TLS == nil || target.Address == "" || target.Version == "" {
		panic("tracked without a way to trust the instance")
	}
	s.tracked[key.Instance] = target.PodUID
}

func (s *simInstances) Observe(key client.Key) Observation {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tracked[key.Instance] == "" {
		return Observation{}
	}
	for _, i := range s.world.View().Instances {
		if report, known := i.Report.Get(); known && i.Name == key.Instance {
			return Observation{Snapshot: toSnapshot(i.Name, report), Received: s.clock.Now()}
		}
	}
	return Observation{Err: errors.New("no answer")}
}

func (s *simInstances) Forget(_, _ string, keep map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.tracked {
		if !keep[name] {
			delete(s.tracked, name)
		}
	}
}

func (s *simInstances) Send(_ context.Context, key client.Key, order any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orders++
	o := planner.Order{Instance: key.Instance}
	var header *wire.Order
	switch m := order.(type) {
	case *wire.InitializeOrder:
		header, o.Kind, o.Database, o.Owner = m.GetOrder(), planner.OrderInitialize, m.GetDatabase(), m.GetOwner()
	case *wire.CloneOrder:
		header, o.Kind, o.Donor, o.Reprovision = m.GetOrder(), planner.OrderClone, m.GetDonor(), m.GetReprovision()
	case *wire.RoleOrder:
		header, o.Kind = m.GetOrder(), planner.OrderSetRole
		o.Role, o.InSync, o.MinInSync = toRole(m.GetRole()), toMembers(m.GetInSync()), int(m.GetMinInSync())
		o.Members, o.WaitFor, o.Open = toMembers(m.GetMembers()), int(m.GetWaitFor()), m.GetOpen()
		o.Source, o.Acking = m.GetSource(), m.GetAcking()
		s.remember(key.Instance, m)
	}
	ha := &s.world.HA
	ha.ClusterUID, ha.Epoch, ha.Revision, ha.Primary = header.GetClusterUid(), header.GetEpoch(), header.GetRevision(), header.GetPrimary()
	s.world.Deliver(o)
	return nil
}

func (s *simInstances) remember(instance string, m *wire.RoleOrder) {
	list := []string{m.GetPassword()}
	for _, member := range m.GetMembers() {
		list = append(list, member.GetPassword())
	}
	s.passwords[instance] = list
}

func (s *simInstances) Changes() <-chan client.Key { return s.changes }

// act lets every instance do one thing.
func (s *simInstances) act() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.world.Instances {
		s.world.Act(i)
	}
}

// setPod tells the model whether the pod of an instance exists.
func (s *simInstances) setPod(name string, exists bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.world.Instances {
		if i.Name == name {
			i.Pod = exists
		}
	}
}

// isReady is what the readiness probe of an instance answers: an open primary, or a replica that runs.
func (s *simInstances) isReady(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.world.View().Instances {
		report, known := i.Report.Get()
		if !known || i.Name != name {
			continue
		}
		return ready(report)
	}
	return false
}

func ready(report planner.Report) bool {
	marker, _ := report.Marker.Get()
	server, running := report.Server.Get()
	return running && (server.Open || marker.Role == planner.RoleReplica)
}

func (s *simInstances) orderCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.orders
}

// toSnapshot is the inverse of toReport.
func toSnapshot(name string, r planner.Report) *wire.Snapshot {
	out := &wire.Snapshot{
		Instance: name, State: wire.State(wire.State_value["STATE_"+strings.ToUpper(string(r.State))]), Why: r.Why,
		Offline: r.Offline, Intact: r.Intact, AppliedEpoch: r.AppliedEpoch, AppliedRevision: r.AppliedRevision,
		Ready: ready(r), StopRequested: r.StopRequested, Lending: r.Lending,
	}
	if m, ok := r.Marker.Get(); ok {
		out.Marker = &wire.Marker{
			ClusterUid: m.ClusterUID, Incarnation: m.Incarnation, Epoch: m.Epoch, Revision: m.Revision, Primary: m.Primary,
			Role: wire.Role(wire.Role_value["ROLE_"+strings.ToUpper(string(m.Role))]), InSync: fromMembers(m.InSync, nil),
			MinInSync: int32(m.MinInSync), Members: fromMembers(m.Members, nil), WaitFor: int32(m.WaitFor),
			Open: m.Open, Acking: m.Acking, Source: m.Source, Initialized: m.Initialized,
		}
	}
	if g, ok := r.GTID.Get(); ok {
		out.Gtid = &wire.GTIDs{
			Executed: g.Executed.String(), Received: g.Received.String(), Owned: g.Owned.String(), Purged: g.Purged.String(),
		}
	}
	if s, ok := r.Server.Get(); ok {
		out.Server = &wire.Server{
			StartId: s.StartID, ServerUuid: s.ServerUUID, SourceEnabled: s.SourceEnabled, WaitFor: int32(s.WaitFor),
			WaitSessions: int32(s.WaitSessions), Open: s.Open, Barrier: s.Barrier.String(), ReplicaEnabled: s.ReplicaEnabled,
			ReplicaStatus: s.ReplicaStatus, ApplierRunning: s.ApplierRunning, ApplierError: s.ApplierError,
			ReceiverError: s.ReceiverError, NeedsClone: s.NeedsClone,
			ReceiverDownMilliseconds: int64(s.ReceiverDown / time.Millisecond), DumpAccounts: dumpAccounts(s.Followers),
			Receiver: wire.ReceiverState_RECEIVER_STATE_CONNECTING,
		}
		if s.ReceiverConnected {
			out.Server.Receiver = wire.ReceiverState_RECEIVER_STATE_CONNECTED
		}
	}
	return out
}

func dumpAccounts(followers []string) []string {
	var out []string
	for _, name := range followers {
		if n, ok := naming.Ordinal("c", name); ok {
			out = append(out, naming.AccountReplication(n))
		}
	}
	slices.Sort(out)
	return out
}

// grow makes room for more instances.
func (s *simInstances) grow(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world.Grow(n)
	for _, i := range s.world.Instances[1:] {
		i.Pod = false
	}
}
