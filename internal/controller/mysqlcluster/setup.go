// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/kube"
)

// Options bounds how hard the controller works.
type Options struct {
	// Concurrency is the number of clusters that are reconciled at once.
	Concurrency int
	// RateLimiter spaces the retries of one cluster; nil means the default of controller-runtime.
	RateLimiter workqueue.TypedRateLimiter[reconcile.Request]
	// SkipNameValidation lets a test run several managers in one process.
	SkipNameValidation bool
}

// Watched returns an empty object of each kind that the controller watches besides MySQLClusters. The cache needs no
// more of them than those with our label.
func Watched() []client.Object {
	return []client.Object{
		&appsv1.StatefulSet{},
		&corev1.Pod{},
		&corev1.PersistentVolumeClaim{},
		&corev1.Secret{},
		&corev1.ConfigMap{},
		&corev1.Service{},
		&corev1.ServiceAccount{},
		&policyv1.PodDisruptionBudget{},
		&networkingv1.NetworkPolicy{},
	}
}

// SetupWithManager registers the reconciler with the manager.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options Options) error {
	b := ctrl.NewControllerManagedBy(mgr).
		For(&mysqlv1.MySQLCluster{}, builder.WithPredicates(kube.ClusterChanged())).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: options.Concurrency,
			RateLimiter:             options.RateLimiter,
			ReconciliationTimeout:   kube.ReconcileTimeout,
			SkipNameValidation:      new(options.SkipNameValidation),
			// The standby has its caches full when it becomes the leader.
			EnableWarmup: new(true),
		})
	for _, kind := range Watched() {
		b = b.Watches(kind, kube.ToCluster(), builder.WithPredicates(kube.Changed()))
	}
	said := make(chan event.GenericEvent)
	b = b.WatchesRawSource(source.Channel(said, &handler.EnqueueRequestForObject{}))
	if err := mgr.Add(r.forwardChanges(said)); err != nil {
		return fmt.Errorf("watch instances: %w", err)
	}
	if err := b.Complete(r); err != nil {
		return fmt.Errorf("build controller mysqlcluster: %w", err)
	}
	return nil
}

// forwardChanges turns what instances say into events of their cluster.
func (r *Reconciler) forwardChanges(to chan<- event.GenericEvent) manager.Runnable {
	return manager.RunnableFunc(func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case key := <-r.Instances.Changes():
				cluster := &mysqlv1.MySQLCluster{}
				cluster.Namespace, cluster.Name = key.Namespace, key.Cluster
				select {
				case <-ctx.Done():
					return nil
				case to <- event.GenericEvent{Object: cluster}:
				}
			}
		}
	})
}
