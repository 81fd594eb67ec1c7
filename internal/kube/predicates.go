// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// ClusterChanged lets through the changes of a MySQLCluster that a reconcile can act on: spec, annotations,
// deletion, and status.ha. The rest of the status is the reconcile's own echo.
func ClusterChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*mysqlv1.MySQLCluster)
		after, also := e.ObjectNew.(*mysqlv1.MySQLCluster)
		if !ok || !also {
			return false
		}
		return isResync(e) ||
			before.Generation != after.Generation ||
			!before.DeletionTimestamp.Equal(after.DeletionTimestamp) ||
			!equality.Semantic.DeepEqual(before.Annotations, after.Annotations) ||
			!equality.Semantic.DeepEqual(before.Status.HA, after.Status.HA)
	}}
}

// isResync tells whether the event is the periodic one that changes nothing.
func isResync(e event.UpdateEvent) bool {
	return e.ObjectOld.GetResourceVersion() == e.ObjectNew.GetResourceVersion()
}

// Changed lets through every change but the periodic resync, which the MySQLCluster's own covers.
func Changed() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return !isResync(e) }}
}

// ToCluster maps an object to the MySQLCluster that its label names. Owner references would not do: pods belong to
// the StatefulSet, and volume claims and kept Secrets to nobody.
func ToCluster() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		name, ok := object.GetLabels()[naming.LabelCluster]
		if !ok {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: name}}}
	})
}
