// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/kube"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/resources"
)

// +kubebuilder:rbac:groups="",resources=configmaps,verbs=create;get;list;patch;watch

// reconcileConfig writes the ConfigMap with the MySQL settings.
func (r *Reconciler) reconcileConfig(ctx context.Context, s *scope) kube.Outcome {
	want, err := resources.ConfigMap(s.in)
	if err != nil {
		return kube.Retry(err)
	}
	_, _, err = kube.Apply(ctx, r.Client, naming.OwnerCluster, kube.ConfigMaps(), want)
	return kube.From(err)
}

// +kubebuilder:rbac:groups="",resources=services,verbs=create;get;list;patch;watch

// reconcileServices writes the Services.
func (r *Reconciler) reconcileServices(ctx context.Context, s *scope) kube.Outcome {
	var failed error
	for _, want := range resources.Services(s.in) {
		_, _, err := kube.Apply(ctx, r.Client, naming.OwnerCluster, kube.Services(), want)
		failed = errors.Join(failed, err)
	}
	return kube.From(failed)
}

// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=create;get;list;patch;watch
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=create;get;list;patch;watch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=create;get;list;patch;watch

// reconcilePolicies writes what limits the pods: the identity they run as, who may reach them, how many may be evicted.
func (r *Reconciler) reconcilePolicies(ctx context.Context, s *scope) kube.Outcome {
	_, _, account := kube.Apply(ctx, r.Client, naming.OwnerCluster, kube.ServiceAccounts(), resources.ServiceAccount(s.in))
	_, _, policy := kube.Apply(ctx, r.Client, naming.OwnerCluster, kube.NetworkPolicies(), resources.NetworkPolicy(s.in))
	_, _, budget := kube.Apply(ctx, r.Client, naming.OwnerCluster, kube.PodDisruptionBudgets(), resources.PodDisruptionBudget(s.in))
	return kube.From(errors.Join(account, policy, budget))
}

// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=create;delete;get;list;patch;watch

// reconcileStatefulSet writes the StatefulSet. The size of the volumes it makes cannot be changed in place, so it is
// then deleted without its pods, and made anew around them by the next reconcile.
func (r *Reconciler) reconcileStatefulSet(ctx context.Context, s *scope) kube.Outcome {
	if s.set != nil && s.set.DeletionTimestamp != nil {
		return kube.Wait(kube.VolumeInterval, mysqlv1.ReasonStorageGrowing)
	}
	size := s.claimSize()
	if s.set != nil && size.Cmp(templateSize(s.set)) != 0 {
		if _, err := kube.DeleteExact(ctx, r.Client, s.set, client.PropagationPolicy("Orphan")); err != nil {
			return kube.Retry(err)
		}
		s.set = nil
		return kube.Wait(kube.SoonInterval, mysqlv1.ReasonStorageGrowing)
	}
	want, err := resources.StatefulSet(s.in, size)
	if err != nil {
		return kube.Stop(err, mysqlv1.ReasonInvalidSpec)
	}
	live, wrote, err := kube.Apply(ctx, r.Client, naming.OwnerCluster, kube.StatefulSets(), want)
	switch {
	case apierrors.IsInvalid(err):
		// What the API server finds wrong with a pod template (say, in podTemplate.spec) only a person can change.
		return kube.Stop(err, mysqlv1.ReasonApplyFailed)
	case err != nil:
		return kube.Retry(err)
	}
	// What is judged from here on is the set as it is now: the pods of the one before a write look up to date.
	s.set = live
	if wrote {
		s.set.Generation = ptr.Deref(want.Generation, 0) // the API server's answer is in want
	}
	return kube.Done()
}

// +kubebuilder:rbac:groups=monitoring.coreos.com,resources=podmonitors,verbs=create;get;list;patch;watch

// reconcileMonitoring writes the PodMonitor where the API has that kind.
func (r *Reconciler) reconcileMonitoring(ctx context.Context, s *scope) kube.Outcome {
	if !r.Monitoring() {
		return kube.Done()
	}
	want := resources.PodMonitor(s.in)
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(resources.PodMonitorKind())
	switch err := r.Client.Get(ctx, client.ObjectKeyFromObject(want), live); {
	case err == nil:
		if sameMonitor(want, live) {
			return kube.Done()
		}
	case !apierrors.IsNotFound(err):
		return kube.Retry(fmt.Errorf("get PodMonitor: %w", err))
	}
	err := r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(want),
		client.FieldOwner(naming.OwnerCluster), client.ForceOwnership)
	if err != nil {
		return kube.Retry(fmt.Errorf("apply PodMonitor: %w", err))
	}
	return kube.Done()
}

// sameMonitor compares what we set, and ignores what the API fills in; we know no schema to extract by.
func sameMonitor(want, live *unstructured.Unstructured) bool {
	return equality.Semantic.DeepDerivative(want.Object["spec"], live.Object["spec"]) &&
		equality.Semantic.DeepEqual(want.GetLabels(), live.GetLabels())
}
