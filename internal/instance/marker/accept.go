// SPDX-License-Identifier: Apache-2.0

package marker

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// Refusals of an order.
var (
	// ErrOlder tells that something newer is stored. The sender's view is out of date.
	ErrOlder = errors.New("order is older than the stored one")
	// ErrOtherPrimary tells that the same epoch has another primary. Two leaders decided, and the other one came first (A7).
	ErrOtherPrimary = errors.New("order names another primary in the same epoch")
	// ErrOtherCluster tells that the volume belongs to another cluster (B7).
	ErrOtherCluster = errors.New("order comes from another cluster")
	// ErrReplaced tells that what the order was decided from is not what is stored any more.
	ErrReplaced = errors.New("order was decided from another one than the stored")
	// ErrMalformed tells that the order cannot be meant.
	ErrMalformed = errors.New("order is malformed")
)

// Accept tells whether an order with that header may be followed by an instance that has stored r (I4). An order
// with the stored numbers is accepted again: orders are repeated, and the steps of a shrink share a revision.
func Accept(r Record, o *wire.Order) error {
	r = r.unlessLeftover(o)
	switch {
	case o.GetClusterUid() == "" || o.GetEpoch() < 1 || o.GetRevision() < 0:
		return fmt.Errorf("%w: cluster UID %q, epoch %d, revision %d", ErrMalformed, o.GetClusterUid(), o.GetEpoch(), o.GetRevision())
	case r.ClusterUID != "" && r.ClusterUID != o.GetClusterUid():
		return fmt.Errorf("%w: stored %s, order %s", ErrOtherCluster, r.ClusterUID, o.GetClusterUid())
	case Compare(r.Order.Epoch, r.Order.Revision, o.GetEpoch(), o.GetRevision()) > 0:
		return fmt.Errorf("%w: stored epoch %d revision %d, order %d %d", ErrOlder,
			r.Order.Epoch, r.Order.Revision, o.GetEpoch(), o.GetRevision())
	case r.Order.Epoch == o.GetEpoch() && r.Order.Primary != "" && o.GetPrimary() != "" && r.Order.Primary != o.GetPrimary():
		return fmt.Errorf("%w: epoch %d has %s, order %s", ErrOtherPrimary, o.GetEpoch(), r.Order.Primary, o.GetPrimary())
	}
	return nil
}

// unlessLeftover returns an empty record where no data is kept: what an older cluster of the same name left behind must
// not block a new one.
func (r Record) unlessLeftover(o *wire.Order) Record {
	if !r.Initialized && r.ClusterUID != o.GetClusterUid() {
		return Record{}
	}
	return r
}

// AcceptRole is Accept for a role order. Within one epoch and revision the steps of a shrink follow each other, so that a
// delayed step would bring back a shorter list or a smaller count: it must have been decided from what is stored, or
// repeat it.
func AcceptRole(r Record, o *wire.RoleOrder) error {
	if err := Accept(r, o.GetOrder()); err != nil {
		return err
	}
	stored := r.Order
	if o.GetRole() != wire.Role_ROLE_PRIMARY || stored.Role != wire.Role_ROLE_PRIMARY ||
		Compare(stored.Epoch, stored.Revision, o.GetOrder().GetEpoch(), o.GetOrder().GetRevision()) != 0 {
		return nil
	}
	if stored.has(o.GetMembers(), o.GetWaitFor()) || stored.has(o.GetReplaces(), o.GetReplacesWaitFor()) {
		return nil
	}
	return fmt.Errorf("%w: it replaces another list or count than the stored one", ErrReplaced)
}

// has tells whether the order lists these members, in whatever order, and waits for so many.
func (o Order) has(list []*wire.Member, waitFor int32) bool {
	return o.WaitFor == waitFor && slices.Equal(sorted(o.Members), sorted(members(list)))
}

func sorted(list []Member) []Member {
	return slices.SortedFunc(slices.Values(list), func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Incarnation, b.Incarnation))
	})
}

// Compare orders two pairs of epoch and revision.
func Compare(epochA, revisionA, epochB, revisionB int64) int {
	if c := cmp.Compare(epochA, epochB); c != 0 {
		return c
	}
	return cmp.Compare(revisionA, revisionB)
}

// CheckRole tells whether a role order makes sense by itself for the instance of that name.
func CheckRole(o *wire.RoleOrder, instance string) error {
	switch o.GetRole() {
	case wire.Role_ROLE_PRIMARY:
		return checkPrimary(o, instance)
	case wire.Role_ROLE_REPLICA:
		if o.GetSource() == instance {
			return fmt.Errorf("%w: %s cannot follow itself", ErrMalformed, instance)
		}
		if o.GetSource() == "" || o.GetSourceHost() == "" || o.GetSourcePort() < 1 {
			return fmt.Errorf("%w: a replica needs a source, its host and port", ErrMalformed)
		}
		return nil
	case wire.Role_ROLE_FENCED:
		return nil
	case wire.Role_ROLE_UNSPECIFIED:
	}
	return fmt.Errorf("%w: role %v", ErrMalformed, o.GetRole())
}

func checkPrimary(o *wire.RoleOrder, instance string) error {
	if o.GetOrder().GetPrimary() != instance {
		return fmt.Errorf("%w: role primary for %s, primary of the epoch is %q", ErrMalformed, instance, o.GetOrder().GetPrimary())
	}
	listed := false
	for _, m := range o.GetMembers() {
		listed = listed || m.GetName() == instance
	}
	if !listed {
		return fmt.Errorf("%w: the member list does not name %s", ErrMalformed, instance)
	}
	// wait_for larger than the list is a shrink in progress: commits wait, which is what is wanted (A3).
	if o.GetWaitFor() < 0 || int(o.GetWaitFor()) < len(o.GetMembers())-1 {
		return fmt.Errorf("%w: %d members but wait_for %d: a commit could be acknowledged without a member", ErrMalformed,
			len(o.GetMembers()), o.GetWaitFor())
	}
	return nil
}
