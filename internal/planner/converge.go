// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// converge sends each instance the order that makes it what it should be, and says what is still missing. Nothing
// is persisted here, so it always applies and comes last.
func converge(v View) (Decision, bool) {
	p, r, _ := v.primary()
	c := convergence{v: v, primary: p, report: r, refused: map[string]string{}}
	c.members = c.memberList()
	c.orderPrimary()
	for _, i := range v.Instances {
		if i.Name != p.Name {
			c.orderOther(i)
		}
	}
	return c.decision(), true
}

// convergence collects one pass of converge.
type convergence struct {
	v       View
	primary Instance
	report  Report
	members []Member // who should be on the primary's list

	orders  []Order
	refused map[string]string
	notes   []note
}

// note is something that is not as it should be yet.
type note struct {
	reason Reason
	fact   string
}

// noteOrder is the order in which notes become the decision's reason: what stops writes first.
func noteOrder() []Reason {
	return []Reason{
		ReasonPrimaryDown, ReasonPrimaryClosed, ReasonTooFewInSync, ReasonReplicaRefused,
		ReasonRepairingReplica, ReasonProvisioning, ReasonJoiningReplica, ReasonInstanceMissing,
	}
}

func (c *convergence) notef(reason Reason, format string, args ...any) {
	c.notes = append(c.notes, note{reason, fmt.Sprintf(format, args...)})
}

// memberList is who should be allowed to acknowledge: the persisted set, and replicas that are about to join it.
// While the primary is closed nothing is acknowledged, so a member that is away need not be waited for.
func (c *convergence) memberList() []Member {
	list := []Member{c.primary.member()}
	if c.v.HA.Opened {
		list = append(list, without(c.v.HA.InSync, c.primary.member())...)
	}
	for _, i := range c.v.Instances {
		m := i.member()
		if i.Name != c.primary.Name && !slices.Contains(list, m) && c.mayJoin(i) {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b Member) int { return c.ordinal(a) - c.ordinal(b) })
	return list
}

// inForce is how many others the primary waits for now: what it has stored, or more while mysqld has not been told yet.
func (c *convergence) inForce(stored Marker) int {
	n := 0
	if stored.Role == RolePrimary {
		n = stored.WaitFor
	}
	if s, running := c.report.Server.Get(); running && s.SourceEnabled {
		n = max(n, s.WaitFor)
	}
	return n
}

func (c *convergence) ordinal(m Member) int {
	i, _ := c.v.instance(m.Name)
	return i.Ordinal
}

// growSlack bounds what a replica may lack when the primary begins to wait for it: about what a busy primary
// commits between two heartbeats. Commits wait while it is transmitted.
const growSlack = 10_000

// mayJoin tells that a replica follows this primary closely enough to be waited for.
func (c *convergence) mayJoin(i Instance) bool {
	r, live := i.live()
	s, running := r.Server.Get()
	m, _ := r.Marker.Get()
	if !live || !running || !c.ours(m) || !c.following(m) || broken(i) {
		return false
	}
	if listed(c.report, i.member()) {
		return r.stays() && s.ReceiverDown <= FailureThreshold
	}
	return r.fit() && s.ReceiverConnected && c.isClose(r)
}

// isClose tells that the replica lacks no more than growSlack of what the primary has executed.
func (c *convergence) isClose(r Report) bool {
	theirs, known := c.report.GTID.Get()
	mine, ok := r.GTID.Get()
	return known && ok && theirs.Executed.Subtract(mine.Held()).Count() <= growSlack
}

func (c *convergence) ours(m Marker) bool {
	return m.Initialized && m.ClusterUID == c.v.HA.ClusterUID
}

// following tells that the replica was ordered to follow this primary in this epoch.
func (c *convergence) following(m Marker) bool {
	return m.Role == RoleReplica && m.Source == c.primary.Name && m.Epoch == c.v.HA.Epoch
}

// orderPrimary sends the primary its role, when what it has stored is not that, or when it waits to be told that it
// still is the primary.
func (c *convergence) orderPrimary() {
	m, ok := c.report.Marker.Get()
	of, _ := c.v.HA.primaryMember()
	if !ok || m.Incarnation != of.Incarnation {
		c.notef(ReasonPrimaryDown, "%s", c.primary.whyNoReport())
		return
	}
	want := Order{
		Kind: OrderSetRole, Instance: c.primary.Name, Role: RolePrimary,
		InSync: c.v.HA.InSync, MinInSync: c.v.HA.MinInSync,
		Members: c.members, WaitFor: c.waitFor(m), Open: c.v.HA.Opened,
		Replaces: m.Members, ReplacesWaitFor: m.WaitFor,
	}
	if c.differs(m, want) || c.report.State == StateOffline {
		c.orders = append(c.orders, want)
	}
	c.notePrimary()
}

// waitFor is how many others a commit waits for. It rises by one with every newcomer, and it falls, to all on the list,
// only when that list is in force and each remaining member has received the primary's barrier. An ACK that a lost member
// gave stays counted for the commits that were waiting then (ha-rules A3): with one ACK more, a newcomer's or none at
// all, they would be released with a copy too few. That holds over a new epoch too.
func (c *convergence) waitFor(stored Marker) int {
	all, now := len(c.members)-1, c.inForce(stored)
	if stored.Role == RolePrimary {
		for _, m := range c.members {
			if !slices.Contains(stored.Members, m) {
				now++
			}
		}
	}
	if all >= now || c.shrunk(stored) {
		return all
	}
	return now
}

// shrunk tells that the list is in force as it should be, and that every remaining member has received the barrier.
func (c *convergence) shrunk(stored Marker) bool {
	if !applied(c.report) || !slices.Equal(stored.Members, c.members) {
		return false
	}
	for _, m := range c.members {
		i, found := c.v.instance(m.Name)
		if m.Name == c.primary.Name {
			continue
		}
		if !found || i.incarnation() != m.Incarnation || !received(c.report, i) {
			return false
		}
	}
	return true
}

// differs tells that the stored marker is not what the order says, or was stored before the last decision.
func (c *convergence) differs(m Marker, o Order) bool {
	if m.Epoch != c.v.HA.Epoch || m.Revision != c.v.HA.Revision || m.Primary != c.v.HA.Primary || m.Role != o.Role {
		return true
	}
	if o.Role == RoleReplica {
		return m.Source != o.Source || m.Acking != o.Acking
	}
	return m.WaitFor != o.WaitFor || m.Open != o.Open || !slices.Equal(m.Members, o.Members)
}

func (c *convergence) notePrimary() {
	s, running := c.report.Server.Get()
	switch {
	case c.report.State != StateRunning || !running:
		c.notef(ReasonPrimaryDown, "%s is %s%s", c.primary.Name, c.report.State, because(c.report.Why))
	case !c.v.HA.Opened:
		c.notef(ReasonPrimaryClosed, "%d of at least %d instances hold what %s has", 1+c.holders(), c.v.Spec.MinInSync, c.primary.Name)
	case !s.Open:
		c.notef(ReasonPrimaryClosed, "%s opens when every member of its list holds what it has%s", c.primary.Name, because(c.report.Why))
	}
	for _, m := range c.v.HA.InSync {
		if m.Name == c.primary.Name || !c.v.HA.Opened {
			continue
		}
		if why, sure := lost(c.v, c.report, m); sure && !mayLose(c.v, m) {
			c.notef(ReasonTooFewInSync, "%s, and writes wait for it because at least %d instances must hold each", why, c.v.HA.MinInSync)
		}
	}
}

func (c *convergence) holders() int {
	n := 0
	for _, i := range c.v.Instances {
		if i.Name != c.primary.Name && listed(c.report, i.member()) && holdsBarrier(c.report, i) {
			n++
		}
	}
	return n
}

// orderOther sends an instance that is not the primary on its way: a clone, its role, or a reason why not.
func (c *convergence) orderOther(i Instance) {
	r, live := i.live()
	if !live {
		if i.Ordinal < c.v.Spec.Replicas {
			c.notef(ReasonInstanceMissing, "%s", c.silentBecause(i))
		}
		return
	}
	m, marked := r.Marker.Get()
	switch {
	case r.State == StateEmpty:
		c.provision(i, r)
	case r.State == StateCloning:
		c.notef(ReasonProvisioning, "%s is being cloned", i.Name)
	case r.State == StateQuarantined || r.State == StateInitializing || !marked || !m.Initialized:
		c.refuse(i, fmt.Sprintf("%s is %s%s", i.Name, r.State, because(r.Why)))
	case m.ClusterUID != c.v.HA.ClusterUID:
		c.refuse(i, fmt.Sprintf("%s holds data of another cluster (%s)", i.Name, m.ClusterUID))
	case c.v.HA.Reprovision == i.member():
		c.reclone(i)
	default:
		c.follow(i, r, m)
	}
}

func (c *convergence) silentBecause(i Instance) string {
	if _, known := i.Report.Get(); known {
		return i.Name + " is silent"
	}
	return i.whyNoReport()
}

func (c *convergence) refuse(i Instance, why string) {
	c.refused[i.Name] = why
	c.notef(ReasonReplicaRefused, "%s", why)
}

// provision fills an empty instance from an idle donor. One clone at a time: a donor serves one, and the disks of
// the others are left alone.
func (c *convergence) provision(i Instance, r Report) {
	donor, ok := c.donor(i)
	if !ok || c.cloneOrdered() {
		c.notef(ReasonProvisioning, "%s waits for a donor%s", i.Name, because(r.Why))
		return
	}
	c.orders = append(c.orders, Order{Kind: OrderClone, Instance: i.Name, Donor: donor})
	c.notef(ReasonProvisioning, "%s is cloned from %s%s", i.Name, donor, because(r.Why))
}

// reclone carries out the stored intent to replace the data of one incarnation.
func (c *convergence) reclone(i Instance) {
	donor, ok := c.donor(i)
	if !ok || c.cloneOrdered() {
		c.notef(ReasonRepairingReplica, "%s waits for a donor", i.Name)
		return
	}
	c.orders = append(c.orders, Order{
		Kind: OrderClone, Instance: i.Name, Donor: donor, Reprovision: c.v.HA.Reprovision.Incarnation,
	})
	c.notef(ReasonRepairingReplica, "%s is cloned again from %s", i.Name, donor)
}

// cloneOrdered tells that a clone is under way or about to be.
func (c *convergence) cloneOrdered() bool {
	under := slices.ContainsFunc(c.v.Instances, func(i Instance) bool {
		r, live := i.live()
		return live && (r.State == StateCloning || r.Lending)
	})
	return under || slices.ContainsFunc(c.orders, func(o Order) bool { return o.Kind == OrderClone })
}

// donor prefers an in-sync replica, to spare the primary; while the primary is closed it has nothing else to do,
// and a replica would have to stop applying. A donor has complete data of this cluster (I3).
func (c *convergence) donor(recipient Instance) (string, bool) {
	if c.v.HA.Opened {
		for _, i := range c.v.Instances {
			if i.Name != recipient.Name && mayGive(c.v, i) {
				return i.Name, true
			}
		}
	}
	_, running := c.report.Server.Get()
	return c.primary.Name, running && c.report.State == StateRunning && applied(c.report)
}

// mayGive tells that a replica is fit to be a donor.
func mayGive(v View, i Instance) bool {
	r, live := i.live()
	s, running := r.Server.Get()
	return live && running && i.Name != v.HA.Primary && r.State == StateRunning && !r.StopRequested &&
		slices.Contains(v.HA.InSync, i.member()) && s.ReplicaStatus && (s.ApplierRunning || r.Lending)
}

// follow sends a replica its role. It is attached only while it has nothing that the primary lacks: the server's
// own check knows its own UUID only (ha-rules A1).
func (c *convergence) follow(i Instance, r Report, m Marker) {
	following := c.following(m)
	if !following {
		if why, is := errant(c.report, i); is {
			c.refuse(i, why)
			return
		}
	}
	want := Order{
		Kind: OrderSetRole, Instance: i.Name, Role: RoleReplica,
		InSync: c.v.HA.InSync, MinInSync: c.v.HA.MinInSync,
		Source: c.primary.Name, Acking: c.acking(i, m, following),
	}
	if c.differs(m, want) {
		c.orders = append(c.orders, want)
	}
	switch {
	case broken(i):
		c.notef(ReasonRepairingReplica, "%s", whyBroken(i))
	case !slices.Contains(c.v.HA.InSync, i.member()):
		c.notef(ReasonJoiningReplica, "%s is %s and not in sync yet%s", i.Name, r.State, because(r.Why))
	}
}

// acking tells whether the replica acknowledges. It begins when the primary waits for it: an ACK that counts before
// would release a commit that no member holds (ha-rules A4). It ends when the primary no longer does.
func (c *convergence) acking(i Instance, m Marker, following bool) bool {
	if !applied(c.report) {
		return following && m.Acking
	}
	if listed(c.report, i.member()) && slices.Contains(c.members, i.member()) {
		return following && (m.Acking || countsAll(c.report))
	}
	// Left out of the list: it goes on until nothing waits for it any more, so that a planned stop stalls nothing.
	return following && m.Acking && !waitsForListOnly(c.report)
}

func (c *convergence) decision() Decision {
	d := Decision{Reason: ReasonHealthy, Orders: c.orders, Available: availability(c.report)}
	if len(c.refused) > 0 {
		d.Refused = maps.Clone(c.refused)
	}
	for _, n := range c.notes {
		d.Because = append(d.Because, n.fact)
	}
	slices.SortFunc(d.Because, strings.Compare)
	d.Because = slices.Compact(d.Because)
	for _, reason := range noteOrder() {
		if slices.ContainsFunc(c.notes, func(n note) bool { return n.reason == reason }) {
			d.Reason = reason
			break
		}
	}
	d.Progressing = len(c.orders) > 0 || !slices.Contains(waitsForOthers(), d.Reason)
	if d.Reason == ReasonTooFewInSync {
		d.Available = Of(false)
	}
	if d.Reason != ReasonHealthy || len(c.orders) > 0 {
		d.Wait = lookAgain
	}
	return d
}

// waitsForOthers are the reasons about which the operator itself does nothing.
func waitsForOthers() []Reason {
	return []Reason{ReasonHealthy, ReasonReplicaRefused, ReasonTooFewInSync}
}
