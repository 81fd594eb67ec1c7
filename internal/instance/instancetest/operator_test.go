// SPDX-License-Identifier: Apache-2.0

package instancetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// patience is how long the harness waits for anything; a loaded machine may need much of it.
const patience = 90 * time.Second

// ha is what the operator would keep in status.ha, and the list it is bringing into effect.
type ha struct {
	uid             string
	epoch, revision int64
	primary         string
	inSync          []string
	list            []string // of the primary
	waitFor         int
	open            bool
	incarnations    map[string]string
}

func (w *world) header() *wire.Order {
	return &wire.Order{ClusterUid: w.ha.uid, Epoch: w.ha.epoch, Revision: w.ha.revision, Primary: w.ha.primary}
}

// cas stands for a compare-and-swap of the status.
func (w *world) cas(change func(*ha)) {
	change(&w.ha)
	w.ha.revision++
}

func (w *world) member(name string) *wire.Member {
	incarnation := w.ha.incarnations[name]
	return &wire.Member{Name: name, Incarnation: incarnation, Password: "p'w-" + name + incarnation}
}

func (w *world) members(names []string) []*wire.Member {
	var out []*wire.Member
	for _, name := range names {
		out = append(out, w.member(name))
	}
	return out
}

// snapshot returns the newest, or nil.
func (w *world) snapshot(name string) *wire.Snapshot {
	o, ok := w.pool.Get(w.instances[name].key())
	if !ok || !o.Connected {
		return nil
	}
	return o.Snapshot
}

// await waits until the instance's newest snapshot satisfies cond.
func (w *world) await(name, what string, cond func(*wire.Snapshot) bool) *wire.Snapshot {
	w.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		if s := w.snapshot(name); s != nil && cond(s) {
			return s
		}
		select {
		case <-deadline.C:
			w.t.Fatalf("%s: waited in vain until %s; it says:\n%v\n%v", name, what, w.snapshot(name), w.pool.Err(w.instances[name].key()))
		case <-again.C:
		}
	}
}

func inState(state wire.State) func(*wire.Snapshot) bool {
	return func(s *wire.Snapshot) bool { return s.GetState() == state }
}

func (w *world) awaitEmpty(name string) {
	w.t.Helper()
	w.await(name, "it is empty", inState(wire.State_STATE_EMPTY))
}

// applied: the role that is persisted now is in effect.
func (w *world) applied(s *wire.Snapshot) bool {
	return s.GetAppliedEpoch() == w.ha.epoch && s.GetAppliedRevision() == w.ha.revision
}

func set(text string) gtid.Set { return gtid.MustParse(text) }

func held(s *wire.Snapshot) gtid.Set {
	return set(s.GetGtid().GetExecuted()).Union(set(s.GetGtid().GetReceived()))
}

// sendPrimary orders the primary of record.
func (w *world) sendPrimary() *wire.Snapshot {
	w.t.Helper()
	s, err := w.pool.SetRole(w.t.Context(), w.instances[w.ha.primary].key(), w.primaryOrder())
	w.must(err)
	return s
}

func (w *world) primaryOrder() *wire.RoleOrder {
	stored := w.snapshot(w.ha.primary).GetMarker()
	return &wire.RoleOrder{
		Replaces: stored.GetMembers(), ReplacesWaitFor: stored.GetWaitFor(),
		Order: w.header(), Role: wire.Role_ROLE_PRIMARY, InSync: w.members(w.ha.inSync), MinInSync: 1,
		Members: w.members(w.ha.list), WaitFor: int32(w.ha.waitFor), Open: w.ha.open,
	}
}

func (w *world) replicaOrder() *wire.RoleOrder {
	return &wire.RoleOrder{
		Order: w.header(), Role: wire.Role_ROLE_REPLICA, InSync: w.members(w.ha.inSync), MinInSync: 1,
		Source: w.ha.primary, SourceHost: "127.0.0.1", SourcePort: int32(w.instances[w.ha.primary].setup.Ports.MySQL),
	}
}

// sendReplica makes the instance follow without acknowledging.
func (w *world) sendReplica(name string) {
	w.t.Helper()
	_, err := w.pool.SetRole(w.t.Context(), w.instances[name].key(), w.replicaOrder())
	w.must(err)
}

// sendMember makes the instance follow and acknowledge.
func (w *world) sendMember(name string) {
	w.t.Helper()
	o := w.replicaOrder()
	o.Acking, o.Password = true, w.member(name).GetPassword()
	_, err := w.pool.SetRole(w.t.Context(), w.instances[name].key(), o)
	w.must(err)
}

// bootstrap initialises db-0 and makes it a closed primary of itself.
func (w *world) bootstrap() {
	w.t.Helper()
	const first = "db-0"
	w.ha = ha{uid: "uid-1", epoch: 1, incarnations: map[string]string{}}
	w.instances[first].start()
	w.awaitEmpty(first)
	_, err := w.pool.Initialize(w.t.Context(), w.instances[first].key(), &wire.InitializeOrder{
		Order: w.header(), Database: database, Owner: owner,
	})
	w.must(err)
	w.learn(first)
	w.cas(func(h *ha) { h.primary, h.inSync, h.list = first, []string{first}, []string{first} })
	w.sendPrimary()
	w.await(first, "the role is in effect", w.applied)
}

// learn waits until the instance runs on complete data, and remembers its incarnation.
func (w *world) learn(name string) {
	w.t.Helper()
	s := w.await(name, "it runs on complete data", func(s *wire.Snapshot) bool {
		return s.GetState() == wire.State_STATE_RUNNING && s.GetMarker().GetInitialized() && s.GetServer() != nil
	})
	w.ha.incarnations[name] = s.GetMarker().GetIncarnation()
}

func (w *world) cloneOrder(donor, reprovision string) *wire.CloneOrder {
	return &wire.CloneOrder{
		Order: w.header(), Donor: donor, DonorHost: "127.0.0.1",
		DonorPort: int32(w.instances[donor].setup.Ports.MySQL), Reprovision: reprovision,
	}
}

// clone starts the instance if it does not run, and fills it from the primary.
func (w *world) clone(name string) {
	w.t.Helper()
	if w.instances[name].cmd == nil {
		w.instances[name].start()
	}
	w.awaitEmpty(name)
	_, err := w.pool.Clone(w.t.Context(), w.instances[name].key(), w.cloneOrder(w.ha.primary, ""))
	w.must(err)
	w.learn(name)
}

// catchUp makes the instance follow without acknowledging, until it has all that the primary had.
func (w *world) catchUp(name string) {
	w.t.Helper()
	w.sendReplica(name)
	all := held(w.snapshot(w.ha.primary))
	w.await(name, "it has caught up", func(s *wire.Snapshot) bool {
		return w.applied(s) && s.GetServer().GetReceiver() == wire.ReceiverState_RECEIVER_STATE_CONNECTED && held(s).Contains(all)
	})
}

// grow admits the instance to the in-sync set, in the order of the design.
func (w *world) grow(name string) {
	w.t.Helper()
	w.catchUp(name)
	w.ha.list = append(slices.Clone(w.ha.list), name)
	w.ha.waitFor = len(w.ha.list) - 1
	w.sendPrimary()
	p := w.await(w.ha.primary, "the longer list is in effect", w.applied)
	w.sendMember(name)
	w.await(name, "it acknowledges and has the barrier", func(s *wire.Snapshot) bool {
		return w.applied(s) && s.GetServer().GetReplicaStatus() && held(s).Contains(set(p.GetServer().GetBarrier()))
	})
	w.cas(func(h *ha) { h.inSync = append(slices.Clone(h.inSync), name) })
	w.tellAll()
}

// shrink drops the instance from the in-sync set, in the order of the design.
func (w *world) shrink(name string) {
	w.t.Helper()
	w.cas(func(h *ha) { h.inSync = without(h.inSync, name) })
	w.ha.list = without(w.ha.list, name)
	w.sendPrimary()
	p := w.await(w.ha.primary, "the shorter list is in effect", w.applied)
	for _, other := range w.ha.list {
		if other == w.ha.primary {
			continue
		}
		w.await(other, "it has the barrier", func(s *wire.Snapshot) bool { return held(s).Contains(set(p.GetServer().GetBarrier())) })
	}
	w.ha.waitFor = len(w.ha.list) - 1
	w.tellAll()
}

func without(list []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == name })
}

// tellAll sends its role to every member and waits until all are in effect.
func (w *world) tellAll() {
	w.t.Helper()
	w.sendPrimary()
	for _, name := range w.ha.inSync {
		if name != w.ha.primary {
			w.sendMember(name)
		}
	}
	for _, name := range w.ha.inSync {
		w.await(name, "the role is in effect", w.applied)
	}
}

// openAll opens the primary.
func (w *world) openAll() {
	w.t.Helper()
	w.cas(func(h *ha) { h.open = true })
	w.tellAll()
	w.await(w.ha.primary, "it is open", func(s *wire.Snapshot) bool { return s.GetServer().GetOpen() && s.GetReady() })
}

// build makes an open cluster of n instances, all in sync.
func (w *world) build(n int) {
	w.t.Helper()
	w.bootstrap()
	for i := 1; i < n; i++ {
		name := fmt.Sprintf("db-%d", i)
		w.clone(name)
		w.grow(name)
	}
	w.openAll()
}
