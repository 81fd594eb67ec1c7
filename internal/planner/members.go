// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"fmt"
	"slices"
	"time"
)

// dropMember leaves a lost member out of the in-sync set, as long as minInSync members remain. The write comes
// first; the primary then gets the shorter list, and stops waiting only when every remaining member has received
// what may be waiting on an ACK that the lost one had already given (ha-rules A3).
func dropMember(v View) (Decision, bool) {
	p, r, _ := v.primary()
	if r.State != StateRunning {
		// A primary that is down acknowledges nothing, so nothing waits for the lost member.
		return Decision{}, false
	}
	for _, m := range v.HA.InSync {
		if m.Name == p.Name {
			continue
		}
		why, sure := lost(v, r, m)
		if !sure || !mayLose(v, m) {
			continue
		}
		ha := v.HA.Clone()
		ha.InSync = without(ha.InSync, m)
		return Decision{
			Reason: ReasonReplicaLost, Because: []string{why}, Persist: &ha,
			Available: availability(r), Progressing: true,
		}, true
	}
	return Decision{}, false
}

// reseedAfter is how long a member must have been silent before the primary is closed to make another copy instead:
// long enough for a pod to be started again elsewhere.
const reseedAfter = time.Minute

// reseed closes the primary, so that a clone can be taken from it. With fewer than minInSync left every commit waits
// for the lost member, and a clone waits for the commit: seen on MySQL 9.7.4, a CLONE from a server on which one
// INSERT waits for its ACK does not end (ha-rules F11 asks for a way out). Closing ends the waiting sessions, whose
// outcome the clients must ask for; it costs no write, since none could be acknowledged, and the primary opens again
// by the barrier as soon as the clone holds what it has.
func reseed(v View) (Decision, bool) {
	p, r, _ := v.primary()
	if !v.HA.Opened || r.State != StateRunning || slices.ContainsFunc(v.Instances, v.follows) ||
		!slices.ContainsFunc(v.Instances, v.wantsClone) {
		return Decision{}, false
	}
	for _, m := range v.HA.InSync {
		why, will := staysLost(v, m)
		if m.Name == p.Name || !will || mayLose(v, m) {
			continue
		}
		ha := v.HA.Clone()
		ha.Opened = false
		ha.Step, ha.StepDeadline = stepReseed, v.Now.Add(reprovisionDeadline)
		return Decision{
			Reason: ReasonReseeding, Because: []string{why + ", and only " + p.Name + " can give another copy"},
			Persist: &ha, Available: Of(false), Progressing: true,
		}, true
	}
	return Decision{}, false
}

// staysLost tells that a member is not about to come back by itself.
func staysLost(v View, m Member) (why string, will bool) {
	i, found := v.instance(m.Name)
	r, live := i.live()
	switch {
	case !found:
		return m.Name + " does not exist any more", true
	case !live:
		return m.Name + " is silent for long", i.Silence > reseedAfter
	case r.State == StateEmpty || r.State == StateCloning || i.incarnation() != "" && i.incarnation() != m.Incarnation:
		return m.Name + " has lost its data", true
	}
	return whyBroken(i), broken(i)
}

// follows tells that a replica receives from the primary and can apply: it is in sync, or will be, and can give a
// clone then.
func (v View) follows(i Instance) bool {
	r, live := i.live()
	s, running := r.Server.Get()
	return live && running && i.Name != v.HA.Primary && s.ReceiverConnected && !broken(i)
}

// wantsClone tells that an instance becomes a new copy as soon as it gets a clone.
func (v View) wantsClone(i Instance) bool {
	r, live := i.live()
	given := v.HA.Reprovision != (Member{}) && i.member() == v.HA.Reprovision
	return live && i.Name != v.HA.Primary && (r.State == StateEmpty || r.State == StateCloning || given)
}

// mayLose tells that enough members remain without m. While the primary has not opened, nothing is acknowledged,
// and the set must stay as it was for the case that another must be chosen from it.
func mayLose(v View, m Member) bool {
	return v.HA.Opened && len(without(v.HA.InSync, m)) >= max(1, v.HA.MinInSync)
}

// lost tells whether a member certainly does not acknowledge any more, and why. Silence alone counts only when the
// primary, the second witness, has no connection from it either.
func lost(v View, primary Report, m Member) (why string, sure bool) {
	i, found := v.instance(m.Name)
	if !found || !i.PVC {
		return m.Name + " has no volume any more", true
	}
	r, live := i.live()
	if !live {
		silent := i.Silence > FailureThreshold || !i.Pod || i.Deleting
		return m.Name + " is silent, and the primary has no connection from it", silent && !connected(primary, i)
	}
	if why := unfit(i, r, m); why != "" {
		return why, true
	}
	s, running := r.Server.Get()
	down := running && s.ReceiverDown > FailureThreshold
	return m.Name + " is not connected to the primary" + because(s.ReceiverError), down && !connected(primary, i)
}

// unfit says why a member that answers does not acknowledge, in its own words; empty when it does.
func unfit(i Instance, r Report, m Member) string {
	stored, ok := r.Marker.Get()
	switch {
	case !ok || stored.Incarnation != m.Incarnation:
		return m.Name + " holds other data than the member did"
	case r.StopRequested:
		return m.Name + " is being stopped"
	case r.State != StateRunning:
		return fmt.Sprintf("%s is %s%s", m.Name, r.State, because(r.Why))
	case !r.Intact:
		return m.Name + " went through a node reset and has not caught up since"
	case broken(i):
		return whyBroken(i)
	}
	return ""
}

// connected tells that the primary has a dump thread of that instance's own account.
func connected(primary Report, i Instance) bool {
	s, running := primary.Server.Get()
	return running && slices.Contains(s.Followers, i.Name)
}

// addMember makes a listed replica a member, once it has received the barrier that the primary read after it began
// to wait for it: whatever was acknowledged without it is in there (ha.md, Grow).
func addMember(v View) (Decision, bool) {
	if !v.HA.Opened {
		return Decision{}, false
	}
	_, r, _ := v.primary()
	if !applied(r) || !countsAll(r) {
		return Decision{}, false
	}
	for _, i := range v.Instances {
		m := i.member()
		if i.Name == v.HA.Primary || slices.Contains(v.HA.InSync, m) || !listed(r, m) || !holdsBarrier(r, i) {
			continue
		}
		ha := v.HA.Clone()
		// Another incarnation of the same name leaves by the same write: its data is gone, or will be refused.
		ha.InSync = append(slices.DeleteFunc(ha.InSync, func(o Member) bool { return o.Name == m.Name }), m)
		if ha.Reprovision.Name == m.Name {
			ha.Reprovision, ha.Step, ha.StepDeadline = Member{}, "", time.Time{}
		}
		return Decision{
			Reason: ReasonReplicaJoined, Because: []string{i.Name + " has received everything and acknowledges"},
			Persist: &ha, Available: availability(r), Progressing: true,
		}, true
	}
	return Decision{}, false
}

// countsAll tells that the primary waits for everybody on its list, and for more while a shrink is unfinished.
func countsAll(primary Report) bool {
	m, ok := primary.Marker.Get()
	s, running := primary.Server.Get()
	return ok && running && m.WaitFor >= len(m.Members)-1 && s.WaitFor >= m.WaitFor
}

// waitsForListOnly tells that no shrink is unfinished: the primary waits for exactly those on its list.
func waitsForListOnly(primary Report) bool {
	m, _ := primary.Marker.Get()
	s, _ := primary.Server.Get()
	return countsAll(primary) && m.WaitFor == len(m.Members)-1 && s.WaitFor == m.WaitFor
}

// recordSettings stores the bound, so that an adoption knows which one was in force.
func recordSettings(v View) (Decision, bool) {
	if v.HA.MinInSync == v.Spec.MinInSync || !v.HA.Opened {
		return Decision{}, false
	}
	_, r, _ := v.primary()
	ha := v.HA.Clone()
	ha.MinInSync = v.Spec.MinInSync
	return Decision{
		Reason:  ReasonSettingsChanged,
		Because: []string{fmt.Sprintf("minInSync is %d now", v.Spec.MinInSync)},
		Persist: &ha, Available: availability(r), Progressing: true,
	}, true
}

func without(list []Member, m Member) []Member {
	return slices.DeleteFunc(slices.Clone(list), func(o Member) bool { return o == m })
}

// availability is what the primary says of itself.
func availability(r Report) Known[bool] {
	s, running := r.Server.Get()
	return Of(running && s.Open)
}

// errant tells which transactions the instance has and the primary has not, in the words of a refusal.
func errant(primary Report, i Instance) (why string, is bool) {
	theirs, known := primary.GTID.Get()
	r, _ := i.Report.Get()
	mine, ok := r.GTID.Get()
	if !known || !ok {
		return i.Name + " or the primary does not know its GTID sets yet", true
	}
	extra := mine.Held().Subtract(theirs.Held().Union(theirs.Owned))
	if extra.IsEmpty() {
		return "", false
	}
	return fmt.Sprintf("%s has transactions that the primary lacks: %s", i.Name, extra), true
}

// reprovision replaces the data of a replica that cannot follow any more. It must be out of the in-sync set, hold
// nothing of its own, and be the only one (I6); the intent is stored before anything is overwritten. A member of the
// set stays as it is while the primary is closed: it may be the only other copy (ha-rules F5).
func reprovision(v View) (Decision, bool) {
	p, r, _ := v.primary()
	if !applied(r) || reprovisioning(v) {
		return Decision{}, false
	}
	for _, i := range v.Instances {
		if i.Name == p.Name || !broken(i) || slices.Contains(v.HA.InSync, i.member()) {
			continue
		}
		if _, is := errant(r, i); is {
			continue
		}
		ha := v.HA.Clone()
		ha.Reprovision = i.member()
		ha.Step, ha.StepDeadline = stepReprovision, v.Now.Add(reprovisionDeadline)
		return Decision{
			Reason: ReasonRepairingReplica, Because: []string{whyBroken(i)}, Persist: &ha,
			Available: availability(r), Progressing: true,
		}, true
	}
	return Decision{}, false
}

// reprovisioning tells that the data that was given up last is still there, or is being replaced. Once the instance
// has other data the intent is fulfilled, whether or not that one has joined since.
func reprovisioning(v View) bool {
	if v.HA.Reprovision == (Member{}) {
		return false
	}
	i, found := v.instance(v.HA.Reprovision.Name)
	return found && (i.incarnation() == "" || i.incarnation() == v.HA.Reprovision.Incarnation)
}

// broken tells that the replica can never catch up by itself.
func broken(i Instance) bool {
	r, live := i.live()
	s, running := r.Server.Get()
	return live && running && i.incarnation() != "" && (s.NeedsClone || s.ApplierError != "" && !s.ApplierRunning)
}

func whyBroken(i Instance) string {
	r, _ := i.Report.Get()
	s, _ := r.Server.Get()
	if s.NeedsClone {
		return i.Name + " needs transactions that the primary has purged" + because(s.ReceiverError)
	}
	return i.Name + " cannot apply" + because(s.ApplierError)
}
