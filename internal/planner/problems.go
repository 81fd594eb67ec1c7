// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"fmt"
	"slices"
	"time"
)

// FailureThreshold is how long an instance must be silent before silence counts as one witness: three heartbeats
// of a second, so that one lost message is nothing.
const FailureThreshold = 3 * time.Second

// lookAgain is how soon a pass is repeated while something is not as it should be, for the facts that come as the
// absence of messages.
const lookAgain = time.Second

// Steps that are persisted, and their deadlines, after which every decision says that the step is overdue. None of them
// is aborted by time: before bootstrap there is nothing to go back to, and an adoption or a clone that is given up
// would only be begun again.
const (
	stepBootstrap   = "Bootstrap"
	stepAdopt       = "Adopt"
	stepReseed      = "Reseed"
	stepReprovision = "Reprovision"

	bootstrapDeadline   = 10 * time.Minute
	adoptDeadline       = 10 * time.Minute
	reprovisionDeadline = 6 * time.Hour // a clone of terabytes
)

// Reasons: the rows of the table, and what convergence reports. The comments are printed in
// docs/reference/conditions.md: what it means, and what a person can do.
const (
	// ReasonMixedClusters means that the volumes hold data of more than one cluster. Remove the volume claims that
	// do not belong here.
	ReasonMixedClusters Reason = "MixedClusters"
	// ReasonWaitingToAdopt means that data was found and a volume has not said yet what it holds. Bring up the pod that
	// the message names, or delete its claim if you know that it holds nothing you need.
	ReasonWaitingToAdopt Reason = "WaitingToAdopt"
	// ReasonAdoptRefused means that an acknowledged write may be on a volume that is missing, or that two volumes each
	// have transactions the other lacks. Bring the missing volume back.
	ReasonAdoptRefused Reason = "AdoptRefused"
	// ReasonAdopting means that the data on kept volumes is being taken over.
	ReasonAdopting Reason = "Adopting"
	// ReasonBootstrapWaiting means that no data is made before every volume is known to be empty. The message says which
	// pod has not reported, and why.
	ReasonBootstrapWaiting Reason = "WaitingForInstances"
	// ReasonBootstrapping means that the first data is being made.
	ReasonBootstrapping Reason = "Bootstrapping"
	// ReasonPrimaryLost means that the primary's data is gone. Bring its volume back; promoting another instance is not
	// supported yet.
	ReasonPrimaryLost Reason = "PrimaryLost"
	// ReasonPrimaryUnreachable means that the operator does not hear the primary. Alone that changes nothing: clients may
	// well reach it.
	ReasonPrimaryUnreachable Reason = "PrimaryUnreachable"
	// ReasonPrimaryDown means that the primary's mysqld does not run. It is started again by itself.
	ReasonPrimaryDown Reason = "PrimaryDown"
	// ReasonPrimaryClosed means that the primary runs and lets nobody in before enough replicas hold what it has.
	ReasonPrimaryClosed Reason = "PrimaryClosed"
	// ReasonReplicaLost means that a replica left the in-sync set, so that writes do not wait for it.
	ReasonReplicaLost Reason = "ReplicaLost"
	// ReasonReseeding means that the primary was closed so that a clone can be taken from it: it is the only copy left.
	ReasonReseeding Reason = "Reseeding"
	// ReasonReplicaJoined means that a replica joined the in-sync set.
	ReasonReplicaJoined Reason = "ReplicaJoined"
	// ReasonOpening means that enough instances hold what the primary has, and it is being opened.
	ReasonOpening Reason = "Opening"
	// ReasonTooFewInSync means that writes wait for a lost replica, because leaving it out would leave fewer than minInSync
	// instances. Bring it back; or lower replication.minInSync, which gives up that a write is on so many instances.
	ReasonTooFewInSync Reason = "TooFewInSync"
	// ReasonProvisioning means that an empty instance is being cloned, or waits for a donor.
	ReasonProvisioning Reason = "Provisioning"
	// ReasonJoiningReplica means that a replica is catching up.
	ReasonJoiningReplica Reason = "JoiningReplica"
	// ReasonRepairingReplica means that a replica cannot follow any more and is cloned again as soon as it may be.
	ReasonRepairingReplica Reason = "RepairingReplica"
	// ReasonReplicaRefused means that an instance is left alone, because it holds transactions that the primary lacks, or
	// data of another cluster. Look at what it holds; if you do not need it, delete its volume claim and its pod.
	ReasonReplicaRefused Reason = "ReplicaRefused"
	// ReasonSettingsChanged means that another replication.minInSync was recorded.
	ReasonSettingsChanged Reason = "MinInSyncChanged"
	// ReasonInstanceMissing means that an instance does not report. The message says what Kubernetes says of its pod.
	ReasonInstanceMissing Reason = "InstanceMissing"
	// ReasonHealthy means that nothing is to be done.
	ReasonHealthy Reason = "Healthy"
)

// Reasons returns every reason a Decision may carry, in the order of the table.
func Reasons() []Reason {
	return []Reason{
		ReasonMixedClusters, ReasonWaitingToAdopt, ReasonAdoptRefused, ReasonAdopting, ReasonBootstrapWaiting,
		ReasonBootstrapping, ReasonPrimaryLost, ReasonPrimaryUnreachable, ReasonPrimaryDown, ReasonPrimaryClosed,
		ReasonReplicaLost, ReasonReseeding, ReasonReplicaJoined, ReasonOpening, ReasonTooFewInSync, ReasonProvisioning,
		ReasonJoiningReplica, ReasonRepairingReplica, ReasonReplicaRefused, ReasonSettingsChanged,
		ReasonInstanceMissing, ReasonHealthy,
	}
}

// problem pairs a question with its answer. decide returns false when the row does not apply. Plan takes the first
// row that does, so the order of the table is the order of precedence.
type problem struct {
	// about is one sentence for docs/failover.md.
	about  string
	decide func(View) (Decision, bool)
}

// problems is the table.
func problems() []problem {
	return []problem{
		{"Data on the volumes outranks the status, or there is no status: adopt what is there, or say what is missing.", adopt},
		{"Nothing has data: make the first datadir, once every volume of the name is known to be empty.", bootstrap},
		{"The primary of record has lost its data: nothing here may replace it yet.", primaryLost},
		{"The primary does not answer: decide nothing from silence.", primaryUnreachable},
		{"A member of the in-sync set is gone: leave it out, so that commits wait for the living only.", dropMember},
		{"A lost member cannot be left out, and only the primary can give its data again: close it, since a clone cannot be taken from a server on which a commit waits.", reseed},
		{"Enough members hold what the closed primary has: let it open.", openPrimary},
		{"A replica has received everything that could be acknowledged without it: it is in sync.", addMember},
		{"The bound minInSync was changed.", recordSettings},
		{"A replica cannot follow any more, and has nothing of its own: replace its data by a clone.", reprovision},
		{"The orders that make each instance what it should be.", converge},
	}
}

// Plan decides what the cluster does next.
func Plan(v View) Decision {
	for _, p := range problems() {
		if d, applies := p.decide(v); applies {
			return withOverdue(v, d)
		}
	}
	return Decision{Reason: ReasonHealthy}
}

// withOverdue says that a step takes longer than it should.
func withOverdue(v View, d Decision) Decision {
	if v.HA.Step != "" && !v.HA.StepDeadline.IsZero() && v.Now.After(v.HA.StepDeadline) {
		d.Because = append(slices.Clone(d.Because), "the step "+v.HA.Step+" is overdue")
	}
	return d
}

// instance returns the instance of that name.
func (v View) instance(name string) (Instance, bool) {
	i := slices.IndexFunc(v.Instances, func(i Instance) bool { return i.Name == name })
	if i < 0 {
		return Instance{}, false
	}
	return v.Instances[i], true
}

// live returns what the instance said within the failure threshold.
func (i Instance) live() (Report, bool) {
	r, known := i.Report.Get()
	return r, known && i.Silence <= FailureThreshold
}

// incarnation returns the incarnation the instance last reported to hold complete data of; empty when unknown.
func (i Instance) incarnation() string {
	if m, ok := i.marker(); ok && m.Initialized {
		return m.Incarnation
	}
	return ""
}

func (i Instance) marker() (Marker, bool) {
	r, known := i.Report.Get()
	if !known {
		return Marker{}, false
	}
	return r.Marker.Get()
}

// member returns the instance as the member it is now.
func (i Instance) member() Member { return Member{Name: i.Name, Incarnation: i.incarnation()} }

// primary returns the instance of record, when it answers and still is the incarnation of record.
func (v View) primary() (Instance, Report, bool) {
	i, found := v.instance(v.HA.Primary)
	if !found {
		return Instance{}, Report{}, false
	}
	r, live := i.live()
	return i, r, live
}

// primaryMember returns the member entry of the primary of record.
func (h HA) primaryMember() (Member, bool) {
	i := slices.IndexFunc(h.InSync, func(m Member) bool { return m.Name == h.Primary })
	if i < 0 {
		return Member{}, false
	}
	return h.InSync[i], true
}

// whyNoReport says why an instance has not reported, for people.
func (i Instance) whyNoReport() string {
	switch {
	case i.Obstacle != "":
		return fmt.Sprintf("%s has not reported: %s", i.Name, i.Obstacle)
	case !i.Pod:
		return fmt.Sprintf("%s has not reported: its pod does not exist", i.Name)
	}
	return i.Name + " has not reported yet"
}
