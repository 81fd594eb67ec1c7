// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/kube"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/resources"
)

// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=delete;get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=delete;get;list;watch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=delete;get;list;watch

// finalize ends a cluster: the pods stop first, so that nobody writes to a volume that is deleted or handed to a new
// cluster of the same name; then volumes and the Secrets that belong to them go, if deletionPolicy says so. All else
// has an owner reference and goes with the MySQLCluster.
func (r *Reconciler) finalize(ctx context.Context, s *scope) kube.Outcome {
	s.found.deleting = "the cluster is being deleted" // whatever goes wrong below
	if s.set != nil && s.set.DeletionTimestamp == nil {
		if _, err := kube.DeleteExact(ctx, r.Client, s.set, client.PropagationPolicy("Background")); err != nil {
			return kube.Retry(err)
		}
	}
	if len(s.pods) > 0 {
		s.found.deleting = "waiting for pods to stop: " + strings.Join(slices.Sorted(maps.Keys(s.pods)), ", ")
		return kube.Wait(kube.DeletionInterval, mysqlv1.ReasonDeleting)
	}
	if s.cluster.Spec.DeletionPolicy == mysqlv1.DeletionDelete {
		if err := r.deleteData(ctx, s); err != nil {
			return kube.Retry(err)
		}
	}
	r.Instances.Forget(s.cluster.Namespace, s.cluster.Name, nil)
	released := s.cluster.DeepCopy()
	controllerutil.RemoveFinalizer(released, naming.Finalizer)
	if err := client.IgnoreNotFound(kube.PatchExact(ctx, r.Client, s.cluster, released, naming.OwnerCluster)); err != nil {
		return kube.Retry(err)
	}
	s.found.deleting = gone
	return kube.Done()
}

// gone is what a deletion says when nothing is left to wait for: there is no status to report to any more.
const gone = "gone"

// deleteData deletes the volume claims and the Secrets that belong to their content. Only claims with our label go:
// one that merely has a fitting name is somebody else's.
func (r *Reconciler) deleteData(ctx context.Context, s *scope) error {
	for _, claim := range s.claims {
		if claim.Labels[naming.LabelCluster] != s.cluster.Name || claim.DeletionTimestamp != nil {
			continue
		}
		if _, err := kube.DeleteExact(ctx, r.Client, claim); err != nil {
			return err
		}
	}
	for _, name := range []string{naming.SecretInternal(s.cluster.Name), naming.SecretApp(s.cluster.Name)} {
		secret := &corev1.Secret{}
		err := r.Uncached.Get(ctx, client.ObjectKey{Namespace: s.cluster.Namespace, Name: name}, secret)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("get Secret %s: %w", name, err)
		}
		if err != nil || secret.Labels[naming.LabelCluster] != resources.Labels(s.cluster)[naming.LabelCluster] {
			continue
		}
		if _, err := kube.DeleteExact(ctx, r.Client, secret); err != nil {
			return err
		}
	}
	return nil
}
