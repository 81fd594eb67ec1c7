// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/keelson-dev/mysql-operator/internal/kube"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// lagLimit is how far a replica may be behind and still serve reads through -ro.
const lagLimit = 10 * time.Second

// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;patch;watch

// reconcileLabels moves the traffic: the Services select by these labels. Labels are taken away before any is given,
// so that two pods are never both the primary's.
func (r *Reconciler) reconcileLabels(ctx context.Context, s *scope) kube.Outcome {
	wanted := map[string]map[string]string{}
	for name, pod := range s.pods {
		if pod.DeletionTimestamp == nil {
			wanted[name] = wantedLabels(s, name, pod)
		}
	}
	var failed error
	for _, giving := range []bool{false, true} {
		for _, name := range s.names() {
			labels, ok := wanted[name]
			if ok && (labels[naming.LabelRole] == naming.RolePrimary) == giving {
				failed = errors.Join(failed, r.applyLabels(ctx, s, name, labels))
			}
		}
		if failed != nil {
			return kube.Retry(failed) // the old primary's label may still be there: give it to nobody else
		}
	}
	return kube.Done()
}

func (r *Reconciler) applyLabels(ctx context.Context, s *scope, name string, labels map[string]string) error {
	want := corev1ac.Pod(name, s.cluster.Namespace).WithUID(s.pods[name].UID).WithLabels(labels)
	_, _, err := kube.Apply(ctx, r.Client, naming.OwnerRole, podLabels(s.pods[name]), want)
	return err
}

// podLabels is the kind Pod with the UID in what is extracted: an apply without it would make a pod of nothing but
// labels if this one is gone by now.
func podLabels(pod *corev1.Pod) kube.Kind[*corev1.Pod, *corev1ac.PodApplyConfiguration] {
	kind := kube.Pods()
	extract := kind.Extract
	kind.Extract = func(live *corev1.Pod, owner string) (*corev1ac.PodApplyConfiguration, error) {
		got, err := extract(live, owner)
		if err != nil {
			return nil, err
		}
		return got.WithUID(pod.UID), nil
	}
	return kind
}

// wantedLabels returns the labels of a pod that tell its part. An instance that does not say what it is keeps the
// labels it has, unless another one is primary of record now: silence alone moves no traffic.
func wantedLabels(s *scope, name string, pod *corev1.Pod) map[string]string {
	labels := map[string]string{naming.LabelInstance: name}
	said := s.said[name].Snapshot
	ha := s.ha()
	switch {
	case said == nil:
		keepLabels(labels, pod, ha.Opened && name == ha.Primary)
	case name == ha.Primary && ha.Opened && said.GetServer().GetOpen():
		labels[naming.LabelRole] = naming.RolePrimary
	case said.GetReady() || pod.Labels[naming.LabelRole] != "":
		// Being Ready once is what the label says besides the role: see neverReady.
		labels[naming.LabelRole] = naming.RoleReplica
		if name != ha.Primary && servesReads(said) {
			labels[naming.LabelTraffic] = naming.TrafficRO
		}
	}
	return labels
}

func servesReads(said *wire.Snapshot) bool {
	lag := time.Duration(said.GetServer().GetLagMilliseconds()) * time.Millisecond
	return said.GetReady() &&
		said.GetState() == wire.State_STATE_RUNNING &&
		said.GetMarker().GetRole() == wire.Role_ROLE_REPLICA &&
		lag >= 0 && lag <= lagLimit
}

// keepLabels keeps what an instance had while it does not say what it is.
func keepLabels(labels map[string]string, pod *corev1.Pod, mayBePrimary bool) { //nolint:revive // a fact, not a switch
	for _, key := range []string{naming.LabelRole, naming.LabelTraffic} {
		if value, ok := pod.Labels[key]; ok {
			labels[key] = value
		}
	}
	if labels[naming.LabelRole] == naming.RolePrimary && !mayBePrimary {
		labels[naming.LabelRole] = naming.RoleReplica
	}
}
