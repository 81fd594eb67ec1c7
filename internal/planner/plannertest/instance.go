// SPDX-License-Identifier: Apache-2.0

package plannertest

import (
	"slices"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
	"github.com/keelson-dev/mysql-operator/internal/planner"
)

// Deliver hands an order to its instance, which stores it or refuses it (I4).
func (w *World) Deliver(o planner.Order) {
	i := w.Get(o.Instance)
	if !i.Pod || i.Cut {
		return
	}
	switch o.Kind {
	case planner.OrderInitialize:
		if i.State == planner.StateEmpty {
			i.Marker = &planner.Marker{ClusterUID: w.HA.ClusterUID, Epoch: w.HA.Epoch, Revision: w.HA.Revision}
			i.State = planner.StateInitializing
		}
	case planner.OrderClone:
		again := i.Marker != nil && o.Reprovision != "" && i.Marker.Incarnation == o.Reprovision
		if i.State == planner.StateEmpty || again {
			i.die()
			i.Marker, i.Executed, i.Received, i.NeedsClone = nil, gtid.Set{}, gtid.Set{}, false
			i.State, i.cloneFrom, i.cloneStage = planner.StateCloning, o.Donor, 0
		}
	case planner.OrderSetRole:
		w.setRole(i, o)
	}
}

func (w *World) setRole(i *Instance, o planner.Order) {
	m := i.Marker
	if m == nil || !m.Initialized || m.ClusterUID != w.HA.ClusterUID {
		return
	}
	lower := w.HA.Epoch < m.Epoch || w.HA.Epoch == m.Epoch && w.HA.Revision < m.Revision
	if lower || w.HA.Epoch == m.Epoch && m.Primary != "" && m.Primary != w.HA.Primary {
		return
	}
	stored := *m
	stored.Epoch, stored.Revision, stored.Primary, stored.Role = w.HA.Epoch, w.HA.Revision, w.HA.Primary, o.Role
	stored.InSync, stored.MinInSync = slices.Clone(o.InSync), o.MinInSync
	stored.Members, stored.WaitFor, stored.Open = slices.Clone(o.Members), o.WaitFor, o.Open
	stored.Source, stored.Acking = o.Source, o.Acking
	i.Marker, i.confirmed = &stored, true
	i.appliedE, i.appliedR = 0, 0
}

// die ends the mysqld process: what is owned by a commit that waits is in the binlog, and recovery commits it.
func (i *Instance) die() {
	i.Executed, i.Owned = i.Executed.Union(i.Owned), gtid.Set{}
	i.startID++
	i.appliedE, i.appliedR, i.appliedMembers, i.appliedK = 0, 0, nil, 0
	i.open, i.sending, i.acking, i.banked = false, "", false, nil
}

// Kill kills mysqld; the manager starts it again by its rules.
func (i *Instance) Kill() {
	if i.State != planner.StateRunning && i.State != planner.StateCloning {
		return
	}
	i.die()
	i.confirmed = false
	i.State = planner.StateDown
	if i.Marker == nil || !i.Marker.Initialized {
		i.Marker, i.State = nil, planner.StateEmpty
	}
}

// Wipe deletes pod and volume; the controllers of Kubernetes make both anew.
func (i *Instance) Wipe() {
	i.die()
	i.Marker, i.Executed, i.Received, i.confirmed = nil, gtid.Set{}, gtid.Set{}, false
	i.State, i.Intact = planner.StateEmpty, true
}

// Act lets the instance do one thing.
func (w *World) Act(i *Instance) {
	if !i.Pod {
		return
	}
	switch i.State { //nolint:exhaustive // in the other states the model has nothing to do by itself
	case planner.StateInitializing:
		i.Marker.Incarnation, i.Marker.Initialized = w.id(), true
		i.State = planner.StateRunning
	case planner.StateCloning:
		w.actClone(i)
	case planner.StateDown:
		i.State = planner.StateRunning
		if i.Marker.Role == planner.RolePrimary {
			i.State = planner.StateOffline
		}
	case planner.StateOffline:
		if i.confirmed {
			i.State = planner.StateRunning
		}
	case planner.StateRunning:
		w.actRole(i)
	}
}

func (w *World) actClone(i *Instance) {
	donor := w.Get(i.cloneFrom)
	if donor.State != planner.StateRunning || donor.Marker == nil {
		i.State = planner.StateEmpty
		return
	}
	if !donor.Owned.IsEmpty() {
		return // a clone waits for prepared transactions to end (seen on 9.7.4)
	}
	if i.cloneStage++; i.cloneStage < 2 {
		return
	}
	i.Marker = &planner.Marker{ClusterUID: donor.Marker.ClusterUID, Incarnation: w.id(), Initialized: true}
	i.Executed, i.Received = donor.Executed, gtid.Set{}
	i.State = planner.StateRunning
}

func (w *World) actRole(i *Instance) {
	switch i.Marker.Role {
	case planner.RolePrimary:
		w.actPrimary(i)
	case planner.RoleReplica:
		w.actReplica(i)
	case planner.RoleNone, planner.RoleFenced:
	}
}

func (w *World) actPrimary(i *Instance) {
	m := i.Marker
	if i.open && !m.Open && !i.Owned.IsEmpty() {
		// super_read_only cannot be had while a commit waits: killed, and started again closed (ha-rules B6).
		i.die()
		i.State = planner.StateOffline
		return
	}
	if i.sending != "" {
		i.sending, i.acking = "", false
	}
	if !i.Executed.Contains(i.Received) {
		i.Executed = i.Executed.Union(i.Received)
	}
	if i.appliedE != m.Epoch || i.appliedR != m.Revision {
		if !slices.Equal(i.appliedMembers, m.Members) || i.appliedK != m.WaitFor {
			i.barrier = i.Executed.Union(i.Owned)
		}
		for _, o := range w.Instances { // lock and kick who is no longer on the list
			if o.sending == i.Name && o.acking && !slices.ContainsFunc(m.Members, o.is) {
				o.sending = ""
			}
		}
		i.appliedE, i.appliedR, i.appliedMembers, i.appliedK = m.Epoch, m.Revision, slices.Clone(m.Members), m.WaitFor
	}
	w.release(i)
	i.open = m.Open && (i.open || w.everyMemberHolds(i))
}

func (i *Instance) is(m planner.Member) bool {
	return m.Name == i.Name && i.Marker != nil && i.Marker.Incarnation == m.Incarnation
}

func (w *World) everyMemberHolds(p *Instance) bool {
	for _, m := range p.Marker.Members {
		o := w.Get(m.Name)
		if o == p {
			continue
		}
		if !o.is(m) || o.sending != p.Name || !o.Executed.Union(o.Received).Contains(p.Executed) {
			return false
		}
	}
	return true
}

func (w *World) actReplica(i *Instance) {
	m := i.Marker
	if i.acking != m.Acking {
		i.acking, i.sending = m.Acking, ""
	}
	i.appliedE, i.appliedR = m.Epoch, m.Revision
	source := w.Get(m.Source)
	allowed := !m.Acking || slices.ContainsFunc(source.appliedMembers, i.is)
	if source.State != planner.StateRunning || i.Unlinked || i.NeedsClone || !allowed {
		i.sending = ""
		return
	}
	i.sending = source.Name
	i.Received = i.Received.Union(source.Executed).Union(source.Owned)
	i.Executed = i.Executed.Union(i.Received)
	i.Intact = true
	if i.acking {
		source.bank(i.Name, i.Received)
		w.release(source)
	}
}

func (i *Instance) bank(acker string, set gtid.Set) {
	if i.banked == nil {
		i.banked = map[string]gtid.Set{}
	}
	i.banked[acker] = i.banked[acker].Union(set)
}

// release commits what enough ackers have acknowledged, whoever they are and whether or not they still live: that
// is how the server counts (ha-rules A3).
func (w *World) release(p *Instance) {
	if p.Marker == nil || p.Marker.Role != planner.RolePrimary || p.State != planner.StateRunning {
		return
	}
	for n := int64(1); n <= p.number; n++ {
		t := transaction(p, n)
		acks := 0
		for _, set := range p.banked {
			if set.Contains(t) {
				acks++
			}
		}
		if p.Owned.Contains(t) && acks >= p.appliedK {
			p.Owned, p.Executed, w.Acked = p.Owned.Subtract(t), p.Executed.Union(t), w.Acked.Union(t)
		}
	}
}

// Commit lets a client write, if the primary of record is open.
func (w *World) Commit() {
	if w.HA.Primary == "" {
		return
	}
	p := w.Get(w.HA.Primary)
	if !p.open {
		return
	}
	p.number++
	p.Owned = p.Owned.Union(transaction(p, p.number))
	w.release(p)
}
