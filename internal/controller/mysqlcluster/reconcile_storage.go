// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/kube"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;patch;watch
// +kubebuilder:rbac:groups=storage.k8s.io,resources=storageclasses,verbs=get

// reconcileStorage asks for larger volumes where the spec does and the StorageClass allows it. A volume that is
// larger than asked for, say one that was kept from before, stays so.
func (r *Reconciler) reconcileStorage(ctx context.Context, s *scope) kube.Outcome {
	failed := r.adoptClaims(ctx, s)
	for _, name := range s.names() {
		claim := s.claims[name]
		if claim == nil || claim.DeletionTimestamp != nil {
			continue
		}
		if err := r.growClaim(ctx, s, claim); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	out := kube.From(failed)
	if len(s.found.growing) > 0 {
		out = out.Merge(kube.Wait(kube.VolumeInterval, mysqlv1.ReasonStorageGrowing))
	}
	return out
}

func (r *Reconciler) growClaim(ctx context.Context, s *scope, claim *corev1.PersistentVolumeClaim) error {
	want := s.cluster.Spec.Storage.Size
	asked := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	capacity, bound := claim.Status.Capacity[corev1.ResourceStorage]
	switch {
	case asked.Cmp(want) >= 0:
		if bound && capacity.Cmp(asked) < 0 {
			s.found.growing = append(s.found.growing, growth(claim, capacity, asked))
		}
		return nil
	case claim.Status.Phase != corev1.ClaimBound:
		return nil // an unbound claim cannot grow; it is made with the new size if its pod is made anew
	}
	refusal, err := r.growthRefusal(ctx, claim)
	if err != nil {
		return err
	}
	if refusal != "" {
		s.found.growRefused = refusal
		return nil
	}
	larger := claim.DeepCopy()
	larger.Spec.Resources.Requests[corev1.ResourceStorage] = want
	if err := kube.PatchExact(ctx, r.Client, claim, larger, naming.OwnerCluster); err != nil {
		return err
	}
	s.found.growing = append(s.found.growing, growth(claim, capacity, want))
	return nil
}

func growth(claim *corev1.PersistentVolumeClaim, from, to resource.Quantity) string {
	parts := []string{fmt.Sprintf("%s from %s to %s", claim.Name, from.String(), to.String())}
	for _, c := range claim.Status.Conditions {
		if c.Status == corev1.ConditionTrue && c.Message != "" {
			parts = append(parts, "("+c.Message+")")
		}
	}
	return strings.Join(parts, " ")
}

// growthRefusal says why the claim's StorageClass does not let it grow; empty when it does.
func (r *Reconciler) growthRefusal(ctx context.Context, claim *corev1.PersistentVolumeClaim) (string, error) {
	name := ptr.Deref(claim.Spec.StorageClassName, "")
	if name == "" {
		return fmt.Sprintf("volume claim %s has no StorageClass, so nothing can expand its volume", claim.Name), nil
	}
	class := &storagev1.StorageClass{}
	switch err := r.Uncached.Get(ctx, types.NamespacedName{Name: name}, class); {
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("StorageClass %s does not exist any more, so nothing can expand volume claim %s", name, claim.Name), nil
	case err != nil:
		return "", fmt.Errorf("get StorageClass %s: %w", name, err)
	case !ptr.Deref(class.AllowVolumeExpansion, false):
		return fmt.Sprintf("StorageClass %s does not allow expansion: set allowVolumeExpansion on it if its driver can do it, or set storage.size back", name), nil
	}
	return "", nil
}

// claimSize returns the size of the volumes that the StatefulSet makes: the spec's, unless volumes cannot grow; one
// larger volume among smaller ones would hide until the small ones are full.
func (s *scope) claimSize() resource.Quantity {
	if s.found.growRefused != "" && s.set != nil {
		return templateSize(s.set)
	}
	return s.cluster.Spec.Storage.Size
}

func templateSize(set *appsv1.StatefulSet) resource.Quantity {
	for _, t := range set.Spec.VolumeClaimTemplates {
		if t.Name == naming.VolumeData {
			return t.Spec.Resources.Requests[corev1.ResourceStorage]
		}
	}
	return resource.Quantity{}
}
