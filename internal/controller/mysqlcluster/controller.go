// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"context"
	"fmt"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
)

// Options bounds how hard one controller works.
type Options struct {
	// Concurrency is the number of clusters that are reconciled at once.
	Concurrency int
	// RateLimiter spaces the retries of one cluster; nil means the default of controller-runtime.
	RateLimiter workqueue.TypedRateLimiter[reconcile.Request]
}

// Reconciler brings MySQL clusters to what their specs ask for.
type Reconciler struct {
	Client client.Client
}

// +kubebuilder:rbac:groups=mysql.keelson.dev,resources=mysqlclusters,verbs=get;list;watch

// SetupWithManager registers the reconciler with the manager.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options Options) error {
	err := ctrl.NewControllerManagedBy(mgr).
		For(&mysqlv1.MySQLCluster{}).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: options.Concurrency,
			RateLimiter:             options.RateLimiter,
		}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("build controller mysqlcluster: %w", err)
	}

	return nil
}

// Reconcile brings one cluster nearer to its spec.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	cluster := &mysqlv1.MySQLCluster{}
	if err := r.Client.Get(ctx, request.NamespacedName, cluster); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	return ctrl.Result{}, nil
}
