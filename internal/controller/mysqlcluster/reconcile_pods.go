// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"context"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/events"
	"github.com/keelson-dev/mysql-operator/internal/kube"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// +kubebuilder:rbac:groups="",resources=pods,verbs=delete;get;list;watch

// reconcilePods starts pods anew that were never Ready and have an older template, one at a time: it is how a
// corrected spec heals a pod that could not start. All others keep what they run with until they are restarted
// (condition UpToDate, RestartPending); a later release restarts them in order.
func (r *Reconciler) reconcilePods(ctx context.Context, s *scope) kube.Outcome {
	if !s.mayChange() {
		return kube.Done()
	}
	for _, pod := range s.pods {
		if pod.DeletionTimestamp != nil {
			return kube.Done() // one at a time (I6); its going wakes us
		}
	}
	for _, name := range s.names() {
		pod := s.pods[name]
		if pod == nil || !isOutdated(s.set, pod) || !neverReady(s, pod) {
			continue
		}
		logr.FromContextOrDiscard(ctx).Info("Replacing pod that was never Ready", naming.LogInstance, name)
		deleted, err := kube.DeleteExact(ctx, r.Client, pod)
		if err != nil {
			return kube.Retry(err)
		}
		if deleted {
			s.found.events = append(s.found.events, events.PodReplaced(name, findObstacle(pod).text))
		}
		return kube.Wait(kube.ImageInterval, mysqlv1.ReasonRestartPending)
	}
	return kube.Done()
}

// neverReady tells whether a pod was never Ready. An instance that was once has a role label, which stays.
func neverReady(s *scope, pod *corev1.Pod) bool {
	return !isReady(pod) && pod.Labels[naming.LabelRole] == "" && !s.said[pod.Name].Snapshot.GetReady()
}

// isSettled tells whether the StatefulSet controller has looked at the newest template.
func isSettled(set *appsv1.StatefulSet) bool {
	return set != nil && set.DeletionTimestamp == nil &&
		set.Status.ObservedGeneration == set.Generation && set.Status.UpdateRevision != ""
}

// isOutdated tells whether a pod was made from an older template than the StatefulSet's present one. While the
// StatefulSet controller has not looked at the newest spec, nobody can tell, and nothing is outdated.
func isOutdated(set *appsv1.StatefulSet, pod *corev1.Pod) bool {
	if !isSettled(set) {
		return false
	}
	return pod.Labels[appsv1.ControllerRevisionHashLabelKey] != set.Status.UpdateRevision
}
