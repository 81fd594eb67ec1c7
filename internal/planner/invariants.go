// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"errors"
	"fmt"
	"slices"
)

// Check tells whether a decision keeps the invariants that can be seen in it. It is asserted in every test, and
// again by the executor, which refuses to carry out a decision that breaks one.
func Check(v View, d Decision) error {
	checks := []func(View, Decision) error{
		checkPersistAlone, checkEpoch, checkIdentity, checkMembers, checkInitialize, checkClone, checkWaitFor,
	}
	var errs []error
	for _, check := range checks {
		errs = append(errs, check(v, d))
	}
	return errors.Join(errs...)
}

// checkPersistAlone: the intent is stored before anything is told to anybody.
func checkPersistAlone(_ View, d Decision) error {
	if d.Persist != nil && len(d.Orders) > 0 {
		return errors.New("a decision that persists may not send orders")
	}
	return nil
}

// checkEpoch is I4 as seen from the writer: the epoch never falls, and another primary needs a new one.
func checkEpoch(v View, d Decision) error {
	if d.Persist == nil {
		return nil
	}
	if d.Persist.Epoch < v.HA.Epoch || d.Persist.Revision < v.HA.Revision {
		return errors.New("I4: epoch and revision never fall")
	}
	if v.HA.Primary != "" && d.Persist.Primary != v.HA.Primary && d.Persist.Epoch == v.HA.Epoch {
		return fmt.Errorf("I4: the primary changes from %s to %s within epoch %d", v.HA.Primary, d.Persist.Primary, v.HA.Epoch)
	}
	return nil
}

// checkIdentity: the cluster UID of a bootstrapped cluster stays, and nothing is un-bootstrapped (I3).
func checkIdentity(v View, d Decision) error {
	if d.Persist == nil || !v.HA.Bootstrapped {
		return nil
	}
	if !d.Persist.Bootstrapped || d.Persist.ClusterUID != v.HA.ClusterUID {
		return errors.New("I3: a bootstrapped cluster keeps its identity")
	}
	return nil
}

// checkMembers is I1 as seen from the writer: the set holds the primary, changes by one member at a time while the
// primary is open, and is not shrunk below the bound.
func checkMembers(v View, d Decision) error {
	if d.Persist == nil || !d.Persist.Bootstrapped {
		return nil
	}
	if _, ok := d.Persist.primaryMember(); !ok {
		return fmt.Errorf("I1: the in-sync set lacks the primary %s", d.Persist.Primary)
	}
	if !v.HA.Opened || d.Persist.Epoch != v.HA.Epoch {
		return nil
	}
	before, after := len(v.HA.InSync), len(d.Persist.InSync)
	if after < before && after < v.HA.MinInSync {
		return fmt.Errorf("I1: %d instances in sync are fewer than minInSync %d", after, v.HA.MinInSync)
	}
	if after < before-1 || after > before+1 {
		return fmt.Errorf("I1: the in-sync set changes from %d to %d members at once", before, after)
	}
	return nil
}

// checkInitialize is I3: nothing is initialised where data may exist.
func checkInitialize(v View, d Decision) error {
	for _, o := range d.Orders {
		if o.Kind != OrderInitialize {
			continue
		}
		if v.HA.Bootstrapped || v.HA.Bootstrapping != o.Instance {
			return fmt.Errorf("I3: %s is initialised without a stored intent", o.Instance)
		}
		for _, i := range v.Instances {
			if r, live := i.live(); !i.Unbound && (!live || r.State != StateEmpty) {
				return fmt.Errorf("I3: %s is initialised while %s may hold data", o.Instance, i.Name)
			}
		}
	}
	return nil
}

// checkClone is I3 and I6: only an empty instance is filled, or the one incarnation that was given up in writing;
// and one at a time.
func checkClone(v View, d Decision) error {
	clones := 0
	for _, o := range d.Orders {
		if o.Kind != OrderClone {
			continue
		}
		if clones++; clones > 1 {
			return errors.New("I6: more than one clone at once")
		}
		if err := checkOneClone(v, o); err != nil {
			return err
		}
	}
	return nil
}

func checkOneClone(v View, o Order) error {
	i, _ := v.instance(o.Instance)
	r, _ := i.live()
	donor, _ := v.instance(o.Donor)
	given := Member{Name: o.Instance, Incarnation: o.Reprovision}
	switch {
	case o.Instance == v.HA.Primary || o.Instance == o.Donor:
		return fmt.Errorf("I6: %s may not be cloned over", o.Instance)
	case donor.incarnation() == "":
		return fmt.Errorf("I3: %s has no complete data to give", o.Donor)
	case r.State == StateEmpty && o.Reprovision == "":
		return nil
	case o.Reprovision == "" || v.HA.Reprovision != given:
		return fmt.Errorf("I6: the data of %s was not given up in writing", o.Instance)
	case slices.Contains(v.HA.InSync, given):
		return fmt.Errorf("I6: %s is in sync and may not be cloned over", o.Instance)
	}
	return nil
}

// checkWaitFor is I1: an open primary waits for all on its list, or for more while it shrinks; the list holds the
// whole in-sync set.
func checkWaitFor(v View, d Decision) error {
	for _, o := range d.Orders {
		if o.Kind != OrderSetRole || o.Role != RolePrimary {
			continue
		}
		if o.WaitFor < len(o.Members)-1 {
			return fmt.Errorf("I1: %s would wait for %d of %d others", o.Instance, o.WaitFor, len(o.Members)-1)
		}
		if o.Open != v.HA.Opened {
			return fmt.Errorf("I5: %s is told open=%t, and stored is %t", o.Instance, o.Open, v.HA.Opened)
		}
		for _, m := range v.HA.InSync {
			if o.Open && !slices.Contains(o.Members, m) {
				return fmt.Errorf("I1: %s is in sync and not on the list", m.Name)
			}
		}
	}
	return nil
}
