// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/events"
	"github.com/keelson-dev/mysql-operator/internal/kube"
	"github.com/keelson-dev/mysql-operator/internal/metrics"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/planner"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

var errNoKey = errors.New("the replication key is not known, so members cannot be given their passwords")

// act carries out the decision: it stores a new state, or sends the orders that follow from the stored one. Never
// both in one pass: an order whose state was not stored could be contradicted by the next leader.
func (r *Reconciler) act(ctx context.Context, s *scope) kube.Outcome {
	d := s.found.decision
	log := logr.FromContextOrDiscard(ctx)
	log.V(1).Info("Decided", naming.LogReason, d.Reason, naming.LogFacts, d.Because, "orders", len(d.Orders), "stores", d.Persist != nil)
	if err := planner.Check(s.view, d); err != nil {
		// A bug of ours: doing nothing is the only safe answer, and a person must know.
		s.found.failed = append(s.found.failed, fmt.Sprintf("decision %s breaks an invariant: %v", d.Reason, err))
		return kube.Stop(fmt.Errorf("check decision %s: %w", d.Reason, err), mysqlv1.Reason(d.Reason))
	}
	var out kube.Outcome
	switch {
	case d.Persist != nil:
		out = r.persist(ctx, s)
	case len(d.Orders) > 0:
		out = r.order(ctx, s)
	}
	if d.Wait > 0 {
		out = out.Merge(kube.Wait(d.Wait, mysqlv1.Reason(d.Reason)))
	}
	return out
}

// +kubebuilder:rbac:groups=mysql.keelson.dev,resources=mysqlclusters/status,verbs=patch;update

// persist stores the state decided on. The change of status.ha wakes the next reconcile, which sends the orders.
func (r *Reconciler) persist(ctx context.Context, s *scope) kube.Outcome {
	d := s.found.decision
	before := s.ha()
	stored, err := kube.UpdateHA(ctx, r.Client, r.Uncached, s.cluster, haFromPlanner(*d.Persist))
	if err != nil {
		return kube.Retry(err)
	}
	logr.FromContextOrDiscard(ctx).Info("Stored decision",
		naming.LogReason, d.Reason, naming.LogFacts, d.Because,
		naming.LogEpoch, stored.Epoch, naming.LogRevision, stored.Revision, naming.LogPrimary, stored.Primary)
	s.found.ha = stored
	r.Metrics.Decided(string(d.Reason))
	if before.Primary != "" && before.Primary != stored.Primary {
		r.Metrics.PrimaryChanged(metrics.Cluster{Namespace: s.cluster.Namespace, Name: s.cluster.Name})
	}
	s.found.events = append(s.found.events, haEvents(before, *stored, d.Because)...)
	return kube.Done()
}

// haEvents tells what happened between two stored states.
func haEvents(before, after mysqlv1.HAStatus, because []string) []events.Event {
	var out []events.Event
	if after.Bootstrapping != "" && before.Bootstrapping == "" {
		out = append(out, events.Bootstrapping(after.Bootstrapping))
	}
	if after.Bootstrapped && !before.Bootstrapped {
		out = append(out, events.Bootstrapped(after.Primary))
	}
	if after.Primary != before.Primary && after.Primary != "" {
		out = append(out, events.PrimaryChanged(before.Primary, after.Primary, because))
	}
	joined, left := memberChanges(before.InSync, after.InSync)
	out = append(out, events.InSyncChanged(joined, left)...)
	if after.Opened && (!before.Opened || after.Epoch != before.Epoch) {
		out = append(out, events.Opened(after.Primary))
	}
	return out
}

func memberChanges(before, after []mysqlv1.MemberStatus) (joined, left []string) {
	was, is := map[mysqlv1.MemberStatus]bool{}, map[mysqlv1.MemberStatus]bool{}
	for _, m := range before {
		was[m] = true
	}
	for _, m := range after {
		is[m] = true
		if !was[m] {
			joined = append(joined, m.Name)
		}
	}
	for _, m := range before {
		if !is[m] {
			left = append(left, m.Name)
		}
	}
	return joined, left
}

// order sends the orders side by side: one instance that does not answer must not hold up the others. It returns
// when all have been answered or given up.
func (r *Reconciler) order(ctx context.Context, s *scope) kube.Outcome {
	orders := s.found.decision.Orders
	results := make([]error, len(orders))
	var group errgroup.Group
	for i, o := range orders {
		message, err := buildOrder(s, o)
		if err != nil {
			return kube.Retry(fmt.Errorf("build order %s for %s: %w", o.Kind, o.Instance, err))
		}
		group.Go(func() error {
			results[i] = r.Instances.Send(ctx, r.key(s, o.Instance), message)
			return nil
		})
	}
	_ = group.Wait() // the results are in results
	if slices.Contains(results, nil) {
		r.Metrics.Decided(string(s.found.decision.Reason))
	}
	out := kube.Done()
	for i, err := range results {
		out = out.Merge(r.ordered(ctx, s, orders[i], err))
	}
	return out
}

// ordered records the answer to an order. A refusal is not an error of ours: the instance knows better, and its
// stream says what; an order that did not arrive is sent again.
func (r *Reconciler) ordered(ctx context.Context, s *scope, o planner.Order, err error) kube.Outcome {
	r.Metrics.Ordered(string(o.Kind), err)
	log := logr.FromContextOrDiscard(ctx).WithValues(naming.LogInstance, o.Instance, naming.LogKind, o.Kind)
	if err == nil {
		log.Info("Sent order", naming.LogReason, s.found.decision.Reason, naming.LogEpoch, s.ha().Epoch, naming.LogRevision, s.ha().Revision)
		return kube.Done()
	}
	log.Info("Sending order had no effect", naming.LogReason, err.Error())
	if code := status.Code(err); code == codes.FailedPrecondition || code == codes.Aborted {
		s.found.events = append(s.found.events, events.OrderRefused(o.Instance, string(o.Kind), errors.New(status.Convert(err).Message())))
	}
	return kube.Wait(kube.OrderRetryInterval, mysqlv1.Reason(s.found.decision.Reason))
}

// buildOrder makes the message. Its header is the stored state that the decision was made from.
func buildOrder(s *scope, o planner.Order) (any, error) {
	ha := s.ha()
	header := &wire.Order{ClusterUid: ha.ClusterUID, Epoch: ha.Epoch, Revision: ha.Revision, Primary: ha.Primary}
	switch o.Kind {
	case planner.OrderInitialize:
		return &wire.InitializeOrder{Order: header, Database: o.Database, Owner: o.Owner}, nil
	case planner.OrderClone:
		return &wire.CloneOrder{
			Order: header, Donor: o.Donor, DonorHost: s.host(o.Donor), DonorPort: naming.PortMySQL, Reprovision: o.Reprovision,
		}, nil
	case planner.OrderSetRole:
		return buildRole(s, header, o)
	}
	return nil, fmt.Errorf("unknown kind %q", o.Kind)
}

func buildRole(s *scope, header *wire.Order, o planner.Order) (*wire.RoleOrder, error) {
	order := &wire.RoleOrder{
		Order:     header,
		InSync:    fromMembers(o.InSync, nil),
		MinInSync: int32(o.MinInSync), //nolint:gosec // at most 9
	}
	switch o.Role {
	case planner.RolePrimary:
		if len(s.secrets.replicationKey) == 0 {
			return nil, errNoKey
		}
		order.Role = wire.Role_ROLE_PRIMARY
		order.Members = fromMembers(o.Members, s.secrets.replicationKey)
		order.WaitFor = int32(o.WaitFor) //nolint:gosec // the list, and one more for each newcomer of an unfinished shrink
		order.Open = o.Open
		order.Replaces = fromMembers(o.Replaces, nil)
		order.ReplacesWaitFor = int32(o.ReplacesWaitFor) //nolint:gosec // the list, and one more for each newcomer of an unfinished shrink
	case planner.RoleReplica:
		order.Role = wire.Role_ROLE_REPLICA
		order.Source = o.Source
		order.SourceHost, order.SourcePort = s.host(o.Source), naming.PortMySQL
		order.Acking = o.Acking
		return order, addReplicaPassword(s, o, order)
	case planner.RoleFenced:
		order.Role = wire.Role_ROLE_FENCED
	case planner.RoleNone:
		return nil, errors.New("an order must name a role")
	}
	return order, nil
}

// addReplicaPassword gives an acknowledging replica the password of its present incarnation. One that catches up has
// that of its account in a Secret.
func addReplicaPassword(s *scope, o planner.Order, order *wire.RoleOrder) error {
	if !o.Acking {
		return nil
	}
	if len(s.secrets.replicationKey) == 0 {
		return errNoKey
	}
	for _, i := range s.view.Instances {
		report, known := i.Report.Get()
		marker, marked := report.Marker.Get()
		if i.Name == o.Instance && known && marked {
			order.Password = memberPassword(s.secrets.replicationKey, planner.Member{Name: i.Name, Incarnation: marker.Incarnation})
			return nil
		}
	}
	return fmt.Errorf("the incarnation of %s is not known", o.Instance)
}

func fromMembers(list []planner.Member, key []byte) []*wire.Member {
	out := make([]*wire.Member, 0, len(list))
	for _, m := range list {
		member := &wire.Member{Name: m.Name, Incarnation: m.Incarnation}
		if key != nil {
			member.Password = memberPassword(key, m)
		}
		out = append(out, member)
	}
	return out
}

// memberPassword is the password of one incarnation of an instance: an earlier incarnation of the same name cannot
// log in with what it knows, and acknowledge writes that it will not keep (ha-rules F4). It has 192 bits in 32
// characters, the most that CHANGE REPLICATION SOURCE takes.
func memberPassword(key []byte, m planner.Member) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(m.Name + "/" + m.Incarnation))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:24])
}

func (s *scope) host(instance string) string {
	return naming.InstanceHost(s.cluster.Namespace, s.cluster.Name, instance)
}
