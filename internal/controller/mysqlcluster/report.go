// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	mysqlv1ac "github.com/keelson-dev/mysql-operator/api/v1/applyconfiguration/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/events"
	"github.com/keelson-dev/mysql-operator/internal/kube"
	"github.com/keelson-dev/mysql-operator/internal/metrics"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// report tells what was done, writes the status if it changed, and then, not before, tells how the conditions changed.
// What was done has happened whether or not the status can be written, and no later reconcile would tell of it.
func (r *Reconciler) report(ctx context.Context, s *scope) kube.Outcome {
	r.Events.Publish(s.cluster, s.found.events)
	if !s.found.observed || s.found.unheard || s.found.deleting == gone {
		return kube.Done() // nothing could be observed, or there is nothing left to report to
	}
	status := buildStatus(s)
	if !sameStatus(s.cluster.Status, status) {
		want := mysqlv1ac.MySQLCluster(s.cluster.Name, s.cluster.Namespace).WithUID(s.cluster.UID).WithStatus(statusConfiguration(status))
		err := r.Client.Status().Apply(ctx, want, client.FieldOwner(naming.OwnerStatus), client.ForceOwnership)
		if client.IgnoreNotFound(err) != nil {
			return kube.Retry(fmt.Errorf("write status: %w", err))
		}
	}
	r.publish(s, status)
	return kube.Done()
}

func (r *Reconciler) publish(s *scope, status mysqlv1.MySQLClusterStatus) {
	r.Events.Publish(s.cluster, conditionEvents(s.cluster.Status.Conditions, status.Conditions))
	ha := s.ha()
	name := metrics.Cluster{Namespace: s.cluster.Namespace, Name: s.cluster.Name}
	r.Metrics.Observe(name, metrics.State{Epoch: ha.Epoch, InSync: len(ha.InSync), Ready: int(status.ReadyReplicas)})
}

// needsPerson tells whether a reason is one that goes away only when somebody does something.
func needsPerson(reason mysqlv1.Reason) bool {
	return slices.Contains([]mysqlv1.Reason{
		mysqlv1.ReasonImagePullFailed, mysqlv1.ReasonPodUnschedulable, mysqlv1.ReasonContainerFailing, mysqlv1.ReasonInvalidSpec,
		mysqlv1.ReasonApplyFailed, mysqlv1.ReasonStorageGrowRefused, mysqlv1.ReasonExpiring, mysqlv1.ReasonCertificateInvalid,
	}, reason)
}

// conditionEvents tells what was lost, what came back, and what waits for a person. A cluster that is on its way to
// its first True says nothing: its own steps have events.
func conditionEvents(before, after []metav1.Condition) []events.Event {
	told := []mysqlv1.ConditionType{
		mysqlv1.ConditionAvailable, mysqlv1.ConditionReady, mysqlv1.ConditionUpToDate, mysqlv1.ConditionCertificatesValid,
	}
	var out []events.Event
	for _, c := range after {
		if !slices.Contains(told, mysqlv1.ConditionType(c.Type)) {
			continue
		}
		was := metav1.Condition{}
		if at := slices.IndexFunc(before, func(b metav1.Condition) bool { return b.Type == c.Type }); at >= 0 {
			was = before[at]
		}
		if was.Status != c.Status || was.Reason != c.Reason {
			out = append(out, conditionEvent(was, c)...)
		}
	}
	return out
}

// conditionEvent tells of one condition that changed; was is zero when there was none.
func conditionEvent(was, is metav1.Condition) []events.Event {
	t, reason := mysqlv1.ConditionType(is.Type), mysqlv1.Reason(is.Reason)
	// An edit makes UpToDate Unknown for a moment; what is told is how it was before and what comes of it.
	passing := was.Reason == string(mysqlv1.ReasonWaitingForStatefulSet)
	wasTrue := was.Status == metav1.ConditionTrue || passing
	switch {
	case reason == mysqlv1.ReasonWaitingForStatefulSet:
		return nil
	case is.Status == metav1.ConditionTrue && !wasTrue && was.Status != "":
		return []events.Event{events.ConditionTrue(t, reason, is.Message)}
	case is.Status == metav1.ConditionUnknown && wasTrue:
		return []events.Event{events.ConditionUnknown(t, reason, is.Message)}
	case is.Status == metav1.ConditionFalse && (wasTrue || needsPerson(reason)):
		return []events.Event{events.ConditionFalse(t, reason, is.Message)}
	}
	return nil
}

func equalStatus(a, b mysqlv1.MySQLClusterStatus) bool { return equality.Semantic.DeepEqual(a, b) }

// statusConfiguration is the whole status but ha: a field left out would be given up, and ha is not ours here.
func statusConfiguration(status mysqlv1.MySQLClusterStatus) *mysqlv1ac.MySQLClusterStatusApplyConfiguration {
	out := mysqlv1ac.MySQLClusterStatus().
		WithObservedGeneration(status.ObservedGeneration).
		WithPhase(status.Phase).
		WithReplicas(status.Replicas).
		WithReadyReplicas(status.ReadyReplicas).
		WithSelector(status.Selector).
		WithPrimary(status.Primary)
	for _, i := range status.Instances {
		out.WithInstances(mysqlv1ac.InstanceStatus().
			WithName(i.Name).WithRole(i.Role).WithInSync(i.InSync).WithReady(i.Ready).WithState(i.State).
			WithVersion(i.Version).WithNode(i.Node).WithGTID(i.GTID).WithWhy(i.Why))
	}
	for _, c := range status.Conditions {
		out.WithConditions(metav1ac.Condition().
			WithType(c.Type).WithStatus(c.Status).WithObservedGeneration(c.ObservedGeneration).
			WithLastTransitionTime(c.LastTransitionTime).WithReason(c.Reason).WithMessage(c.Message))
	}
	return out
}
