// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"fmt"
	"slices"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
)

// adopt takes over data that the status does not know: the MySQLCluster was deleted with Retain and made again, the
// namespace or etcd was restored, or an adoption under way lost its chosen primary. Status written later than any
// stored marker is the truth, and this row does not apply (ha-rules B7, F3).
func adopt(v View) (Decision, bool) {
	if !mustAdopt(v) {
		return Decision{}, false
	}
	if facts := mixedClusters(v); len(facts) > 0 {
		return refuse(ReasonMixedClusters, facts), true
	}
	if waiting := notReported(v); len(waiting) > 0 {
		return waitFor(ReasonWaitingToAdopt, waiting), true
	}
	newest, from := newestMarker(v)
	list, minimum := newest.InSync, newest.MinInSync
	if len(list) == 0 {
		// Between Initialize and the first order nothing but the marker exists: whoever was initialised is alone.
		list, minimum = []Member{{Name: from, Incarnation: newest.Incarnation}}, 1
	}
	winner, facts, ok := seed(v, newest.Primary, list, minimum)
	if !ok {
		return refuse(ReasonAdoptRefused, facts), true
	}
	ha := v.HA.Clone()
	ha.ClusterUID = newest.ClusterUID
	ha.Bootstrapped, ha.Bootstrapping = true, ""
	ha.Epoch = max(highestEpoch(v), v.HA.Epoch) + 1
	ha.Revision = max(newest.Revision, v.HA.Revision)
	ha.Primary, ha.InSync, ha.MinInSync = winner, list, max(minimum, v.Spec.MinInSync)
	ha.Opened = false
	ha.Step, ha.StepDeadline = stepAdopt, v.Now.Add(adoptDeadline)
	return Decision{
		Reason: ReasonAdopting, Because: facts, Persist: &ha, Available: Of(false), Progressing: true,
	}, true
}

func mustAdopt(v View) bool {
	if !v.HA.Bootstrapped && v.HA.Bootstrapping != "" {
		// A bootstrap under way: its instance gets a marker of this UID before the status says so. Anything else
		// with data is a volume that came back, and bootstrapStep or the UID check speaks of it.
		return slices.ContainsFunc(v.Instances, func(i Instance) bool {
			m, ok := i.marker()
			return ok && m.Initialized && m.ClusterUID != v.HA.ClusterUID
		})
	}
	if !v.HA.Bootstrapped {
		return slices.ContainsFunc(v.Instances, func(i Instance) bool { return i.incarnation() != "" })
	}
	return statusBehind(v) || adoptionLostItsPrimary(v)
}

// statusBehind tells that an instance has stored a later decision than the status holds: the status was restored
// from an older copy and is not the truth. The write of an adoption is a compare-and-swap, so a status that is only
// read from a stale cache makes a conflict, not an adoption.
func statusBehind(v View) bool {
	return slices.ContainsFunc(v.Instances, func(i Instance) bool {
		m, ok := i.marker()
		return ok && m.ClusterUID == v.HA.ClusterUID && later(m, v.HA)
	})
}

func later(m Marker, ha HA) bool {
	return m.Epoch > ha.Epoch || m.Epoch == ha.Epoch && m.Revision > ha.Revision
}

// adoptionLostItsPrimary: nothing was acknowledged since the adoption began, so another of the same set may be
// chosen when the chosen one's data is gone.
func adoptionLostItsPrimary(v View) bool {
	if v.HA.Opened || v.HA.Step != stepAdopt {
		return false
	}
	of, ok := v.HA.primaryMember()
	i, found := v.instance(v.HA.Primary)
	if !ok || !found {
		return ok && !found
	}
	r, live := i.live()
	return live && (r.State == StateEmpty || i.incarnation() != "" && i.incarnation() != of.Incarnation)
}

// mixedClusters lists the cluster UIDs when the volumes hold data of more than one cluster.
func mixedClusters(v View) []string {
	var facts, uids []string
	for _, i := range v.Instances {
		m, ok := i.marker()
		if !ok || !m.Initialized {
			continue
		}
		facts = append(facts, fmt.Sprintf("%s holds data of cluster %s", i.Name, m.ClusterUID))
		if !slices.Contains(uids, m.ClusterUID) {
			uids = append(uids, m.ClusterUID)
		}
	}
	if len(uids) < 2 {
		return nil
	}
	return append(facts, "remove the volume claims that do not belong to this cluster")
}

// notReported returns, for each volume whose content is not known, why: an unread volume may hold the newest data.
func notReported(v View) []string {
	var waiting []string
	for _, i := range v.Instances {
		r, live := i.live()
		switch {
		case live:
			if why := contentUnknown(i, r); why != "" {
				waiting = append(waiting, why)
			}
		case i.Unbound:
		case i.PVC && i.Ordinal >= v.Spec.Replicas:
			waiting = append(waiting, i.claimWithoutPod())
		default:
			waiting = append(waiting, i.whyNoReport())
		}
	}
	slices.Sort(waiting)
	return waiting
}

// contentUnknown says why an instance that answers cannot tell what it holds; empty when it can.
func contentUnknown(i Instance, r Report) string {
	switch {
	case r.State == StateQuarantined:
		return fmt.Sprintf("%s cannot be used%s", i.Name, because(r.Why))
	case r.State == StateEmpty || knowsItsSets(r):
		return ""
	}
	return fmt.Sprintf("%s does not know its GTID sets yet (%s)%s", i.Name, r.State, because(r.Why))
}

// claimWithoutPod is what a person is told about a volume claim that no pod of this cluster mounts.
func (i Instance) claimWithoutPod() string {
	return fmt.Sprintf("the volume claim of %s exists, and no pod can say whether it holds data: raise replicas to %d, or delete the claim",
		i.Name, i.Ordinal+1)
}

func knowsItsSets(r Report) bool {
	_, known := r.GTID.Get()
	return known
}

// newestMarker returns the stored marker with the highest (epoch, revision), and whose it is. A marker without a role
// is that of data just made or cloned, which was not told of any set yet: it counts only when there is no other.
func newestMarker(v View) (newest Marker, from string) {
	for _, i := range v.Instances {
		m, ok := i.marker()
		if !ok || !m.Initialized {
			continue
		}
		if from == "" || newer(m, newest) {
			newest, from = m, i.Name
		}
	}
	return newest, from
}

func newer(m, than Marker) bool {
	if told, before := m.Role != RoleNone, than.Role != RoleNone; told != before {
		return told
	}
	return m.Epoch > than.Epoch || m.Epoch == than.Epoch && m.Revision > than.Revision
}

// highestEpoch is the highest that anybody has stored: the new one must be accepted by all.
func highestEpoch(v View) int64 {
	var highest int64
	for _, i := range v.Instances {
		if m, ok := i.marker(); ok {
			highest = max(highest, m.Epoch)
		}
	}
	return highest
}

// seed chooses the primary after a full outage: among the members of the newest stored list that report and are
// intact, the last primary if it has everything the others have, else the one that has.
//
// The newest stored list may be older than the last one that was in force, which may have left members out. At
// least minimum members were always in it; so while fewer than minimum of the list are missing, one of those that
// report was in it, and the superset has everything that was acknowledged.
func seed(v View, last string, list []Member, minimum int) (winner string, facts []string, ok bool) {
	present, missing := present(v, last, list)
	if len(missing) > 0 && len(missing) >= minimum {
		return "", append(missing, fmt.Sprintf(
			"an acknowledged write was held by at least %d instances, and %d of the last list are missing: "+
				"bring a missing volume back", minimum, len(missing))), false
	}
	if len(present) == 0 {
		return "", append(missing, "no member of the last in-sync set has reported with its data"), false
	}
	for _, i := range preferring(present, last) {
		if holdsAll(i, present) {
			return i.Name, append(missing, fmt.Sprintf("%s has everything that any member of the last in-sync set has", i.Name)), true
		}
	}
	for _, i := range present {
		missing = append(missing, fmt.Sprintf("%s has transactions that another lacks", i.Name))
	}
	return "", append(missing, "no member has all of them; a person must choose"), false
}

// present splits the list into instances that report as that incarnation and are intact, and the reasons of the rest.
func present(v View, last string, list []Member) (present []Instance, missing []string) {
	for _, m := range list {
		i, found := v.instance(m.Name)
		r, _ := i.live()
		switch {
		case !found || i.incarnation() == "":
			missing = append(missing, m.Name+" has no data any more")
		case i.incarnation() != m.Incarnation:
			missing = append(missing, m.Name+" holds other data than the member of the last list did")
		case !r.Intact && m.Name != last:
			// Its node was reset, so the end of its relay log may be gone (ha-rules A5b). The last primary counts
			// all the same: its binlog was synced before anybody could acknowledge.
			missing = append(missing, m.Name+" went through a node reset and may lack the last transactions it acknowledged")
		default:
			present = append(present, i)
		}
	}
	slices.Sort(missing)
	return present, missing
}

func preferring(list []Instance, name string) []Instance {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b Instance) int {
		switch {
		case a.Name == name && b.Name != name:
			return -1
		case b.Name == name && a.Name != name:
			return 1
		}
		return a.Ordinal - b.Ordinal
	})
	return out
}

func holdsAll(i Instance, all []Instance) bool {
	mine := i.held()
	return !slices.ContainsFunc(all, func(o Instance) bool { return !mine.Contains(o.held()) })
}

// held returns what the instance has, applied or not; empty when unknown, so ask knowsItsSets first where that
// matters. What a running primary owns is in its binlog: a replica that has received it does not have more.
func (i Instance) held() gtid.Set {
	r, _ := i.Report.Get()
	sets, _ := r.GTID.Get()
	return sets.Held().Union(sets.Owned)
}
