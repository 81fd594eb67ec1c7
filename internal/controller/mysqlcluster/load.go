// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/kube"
	"github.com/keelson-dev/mysql-operator/internal/metrics"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/resources"
	"github.com/keelson-dev/mysql-operator/internal/validation"
)

// +kubebuilder:rbac:groups=mysql.keelson.dev,resources=mysqlclusters,verbs=get;list;patch;watch
// +kubebuilder:rbac:groups=mysql.keelson.dev,resources=mysqlclusters/finalizers,verbs=update

// load reads the cluster and guards it with the finalizer. The scope is nil when there is nothing to do.
func (r *Reconciler) load(ctx context.Context, request ctrl.Request) (*scope, error) {
	cluster := &mysqlv1.MySQLCluster{}
	switch err := r.Client.Get(ctx, request.NamespacedName, cluster); {
	case apierrors.IsNotFound(err):
		r.forget(request)
		return nil, nil //nolint:nilnil // nothing to do and nothing wrong
	case err != nil:
		return nil, fmt.Errorf("get MySQLCluster: %w", err)
	}
	hasFinalizer := controllerutil.ContainsFinalizer(cluster, naming.Finalizer)
	if cluster.DeletionTimestamp != nil && !hasFinalizer {
		r.forget(request)
		return nil, nil //nolint:nilnil // somebody else's finalizer keeps the object; our part is done
	}
	if !hasFinalizer {
		guarded := cluster.DeepCopy()
		controllerutil.AddFinalizer(guarded, naming.Finalizer)
		if err := kube.PatchExact(ctx, r.Client, cluster, guarded, naming.OwnerCluster); err != nil {
			return nil, err
		}
		cluster = guarded
	}
	return &scope{
		cluster: cluster,
		in:      resources.Input{Cluster: cluster, Platform: r.Platform},
		now:     r.Clock.Now(),
		paused:  cluster.Annotations[naming.AnnotationPaused] == "true",
		invalid: validation.ValidateCreate(cluster).ToAggregate(),
	}, nil
}

// forget drops what is remembered of a cluster that is gone.
func (r *Reconciler) forget(request ctrl.Request) {
	r.Instances.Forget(request.Namespace, request.Name, nil)
	r.credentials.forget(request.NamespacedName)
	r.Metrics.Forget(metrics.Cluster{Namespace: request.Namespace, Name: request.Name})
}
