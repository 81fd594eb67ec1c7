// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"fmt"
	"slices"
)

// bootstrap makes the first datadir. Nothing is initialised while any volume of the name might hold data: a
// restored namespace or a re-created MySQLCluster over kept volumes must come up with its data (ha-rules B7).
func bootstrap(v View) (Decision, bool) {
	if v.HA.Bootstrapped {
		return Decision{}, false
	}
	if v.HA.Bootstrapping != "" {
		return bootstrapStep(v), true
	}
	if waiting := notKnownEmpty(v); len(waiting) > 0 {
		return waitFor(ReasonBootstrapWaiting, waiting), true
	}
	ha := v.HA.Clone()
	ha.ClusterUID = v.NewUID
	ha.Bootstrapping = v.Instances[0].Name
	ha.Epoch = 1
	ha.MinInSync = v.Spec.MinInSync
	ha.Step, ha.StepDeadline = stepBootstrap, v.Now.Add(bootstrapDeadline)
	return Decision{
		Reason:      ReasonBootstrapping,
		Because:     []string{"every volume of the cluster is empty"},
		Persist:     &ha,
		Available:   Of(false),
		Progressing: true,
	}, true
}

// bootstrapStep carries on with a bootstrap whose intent is stored.
func bootstrapStep(v View) Decision {
	first, found := v.instance(v.HA.Bootstrapping)
	r, live := first.live()
	if !found || !live {
		return waitFor(ReasonBootstrapping, []string{first.whyNoReport()})
	}
	if m, ok := r.Marker.Get(); ok && m.Initialized {
		ha := v.HA.Clone()
		ha.Bootstrapped = true
		ha.Primary = first.Name
		ha.InSync = []Member{{Name: first.Name, Incarnation: m.Incarnation}}
		ha.MinInSync = v.Spec.MinInSync
		return Decision{
			Reason: ReasonBootstrapping, Because: []string{first.Name + " holds the first data"},
			Persist: &ha, Available: Of(false), Progressing: true,
		}
	}
	if r.State != StateEmpty {
		return waitFor(ReasonBootstrapping, []string{fmt.Sprintf("%s is %s", first.Name, r.State)})
	}
	// Looked at once more, because a volume may have come back between the stored intent and now.
	if waiting := notKnownEmpty(v); len(waiting) > 0 {
		return waitFor(ReasonBootstrapWaiting, waiting)
	}
	d := waitFor(ReasonBootstrapping, []string{"the first data is made on " + first.Name})
	if r.Why != "" {
		d.Because = append(d.Because, first.Name+": "+r.Why)
	}
	d.Orders = []Order{{Kind: OrderInitialize, Instance: first.Name, Database: v.Spec.Database, Owner: v.Spec.Owner}}
	return d
}

// notKnownEmpty returns, for each volume of which nobody said that it is empty, why.
func notKnownEmpty(v View) []string {
	var waiting []string
	if len(v.Instances) == 0 {
		return []string{"no pod has been created yet"}
	}
	for n, i := range v.Instances {
		r, live := i.live()
		switch {
		case live && r.State == StateEmpty:
		case live:
			waiting = append(waiting, fmt.Sprintf("%s is %s, not Empty%s", i.Name, r.State, because(r.Why)))
		case i.Unbound && n > 0:
			// A claim that was never bound has no volume, and so no data; the first instance is needed itself.
		case i.Ordinal >= v.Spec.Replicas:
			waiting = append(waiting, i.claimWithoutPod())
		default:
			waiting = append(waiting, i.whyNoReport())
		}
	}
	slices.Sort(waiting)
	return waiting
}

// waitFor is the decision to do nothing yet.
func waitFor(reason Reason, facts []string) Decision {
	return Decision{Reason: reason, Because: facts, Wait: lookAgain, Available: Of(false), Progressing: true}
}

// refuse is the decision to do nothing until a person has changed what the facts name.
func refuse(reason Reason, facts []string) Decision {
	return Decision{Reason: reason, Because: facts, Wait: lookAgain, Available: Of(false)}
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}
