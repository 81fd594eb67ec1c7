// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"fmt"
	"slices"
	"time"
)

// primaryLost: the data of the primary of record is gone. Another instance takes over when failover comes (the row
// PrimaryLost of the failover issue replaces this one); until then the sentence says what would help.
func primaryLost(v View) (Decision, bool) {
	i, found := v.instance(v.HA.Primary)
	of, ok := v.HA.primaryMember()
	if !ok {
		return refuse(ReasonPrimaryLost, []string{"the in-sync set does not hold the primary " + v.HA.Primary}), true
	}
	if !found {
		return refuse(ReasonPrimaryLost, []string{v.HA.Primary + " has neither pod nor volume; promoting another instance is not supported yet"}), true
	}
	r, live := i.live()
	if !live {
		return Decision{}, false
	}
	m, known := r.Marker.Get()
	switch {
	case r.State == StateEmpty:
		return refuse(ReasonPrimaryLost, []string{i.Name + " has lost its data; promoting another instance is not supported yet"}), true
	case known && m.Incarnation != of.Incarnation:
		return refuse(ReasonPrimaryLost, []string{i.Name + " holds other data than the primary of record did"}), true
	case r.State == StateQuarantined:
		return refuse(ReasonPrimaryLost, []string{fmt.Sprintf("%s cannot be used%s", i.Name, because(r.Why))}), true
	}
	return Decision{}, false
}

// primaryUnreachable: the operator's own link is one witness, and one witness is not enough for anything. The
// cluster goes on without us meanwhile; what cannot be done now is to change the in-sync set.
func primaryUnreachable(v View) (Decision, bool) {
	i, r, live := v.primary()
	if live && r.State != "" {
		return Decision{}, false
	}
	d := Decision{
		Reason:  ReasonPrimaryUnreachable,
		Because: []string{i.whyNoReport()},
		Wait:    lookAgain,
		Orders:  nil,
	}
	if _, known := i.Report.Get(); known {
		d.Because = []string{i.Name + " is silent"}
	}
	if !i.Pod || i.Obstacle != "" {
		d.Reason, d.Available = ReasonPrimaryDown, Of(false)
	}
	return d, true
}

// openPrimary lets a closed primary open. Holders are those that follow it, acknowledge to it, and have received
// its barrier; the write makes them the in-sync set of this epoch (ha.md, CAS 2).
func openPrimary(v View) (Decision, bool) {
	if v.HA.Opened {
		return Decision{}, false
	}
	p, r, _ := v.primary()
	if !applied(r) {
		return Decision{}, false
	}
	holders := []Member{p.member()}
	for _, i := range v.Instances {
		if i.Name != p.Name && listed(r, i.member()) && holdsBarrier(r, i) {
			holders = append(holders, i.member())
		}
	}
	if len(holders) < v.Spec.MinInSync {
		return Decision{}, false
	}
	ha := v.HA.Clone()
	ha.InSync, ha.MinInSync, ha.Opened = holders, v.Spec.MinInSync, true
	ha.Step, ha.StepDeadline = "", time.Time{}
	return Decision{
		Reason:      ReasonOpening,
		Because:     []string{fmt.Sprintf("%s and %d others hold everything that %s has", p.Name, len(holders)-1, p.Name)},
		Persist:     &ha,
		Available:   Of(false),
		Progressing: true,
	}, true
}

// applied tells that the running mysqld of a primary is what the stored order says.
func applied(r Report) bool {
	m, ok := r.Marker.Get()
	_, running := r.Server.Get()
	return ok && running && m.Role == RolePrimary && r.AppliedEpoch == m.Epoch && r.AppliedRevision == m.Revision
}

// listed tells that the primary's stored list has the member.
func listed(primary Report, m Member) bool {
	stored, ok := primary.Marker.Get()
	return ok && slices.Contains(stored.Members, m)
}

// holdsBarrier tells that the replica acknowledges to this primary now, and has received everything that could have
// been acknowledged before the primary's list took effect. Nothing that lost counts against a member may be so: a
// replica that is being stopped would leave the set and join it again, for ever.
func holdsBarrier(primary Report, i Instance) bool {
	r, live := i.live()
	s, running := r.Server.Get()
	m, ok := r.Marker.Get()
	if !live || !running || !ok || !m.Acking || !s.ReplicaStatus || !s.ReceiverConnected || !r.fit() || broken(i) {
		return false
	}
	return received(primary, i)
}

// fit tells that an instance runs, is not about to stop, and lacks nothing it may have acknowledged.
func (r Report) fit() bool { return r.stays() && r.Intact }

// stays tells that an instance runs and is not about to stop.
func (r Report) stays() bool { return r.State == StateRunning && !r.StopRequested }

// received tells that the instance has received the primary's barrier. A GTID that left the primary's owned set
// without being executed was rolled back and will never come (ha-rules M3).
func received(primary Report, i Instance) bool {
	s, running := primary.Server.Get()
	now, known := primary.GTID.Get()
	mine, ok := i.Report.Get()
	sets, setsKnown := mine.GTID.Get()
	if !running || !known || !ok || !setsKnown {
		return false
	}
	return sets.Held().Contains(s.Barrier.Intersect(now.Executed.Union(now.Owned)))
}
