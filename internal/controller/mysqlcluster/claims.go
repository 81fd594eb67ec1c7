// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"context"
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/keelson-dev/mysql-operator/internal/kube"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/planner"
	"github.com/keelson-dev/mysql-operator/internal/resources"
)

// makesFirstData tells whether a decision leads to a datadir made from scratch.
func makesFirstData(s *scope, d planner.Decision) bool {
	begins := d.Persist != nil && d.Persist.Bootstrapping != "" && s.ha().Bootstrapping == ""
	for _, o := range d.Orders {
		begins = begins || o.Kind == planner.OrderInitialize
	}
	return begins
}

// confirmClaims reads the volume claims as the API server has them, by name alone. A claim that somebody restored or
// copied has no label of ours and is not in the cache; an instance would be initialised beside data that exists.
func (r *Reconciler) confirmClaims(ctx context.Context, s *scope) error {
	list := &corev1.PersistentVolumeClaimList{}
	if err := r.Uncached.List(ctx, list, client.InNamespace(s.cluster.Namespace)); err != nil {
		return fmt.Errorf("list volume claims: %w", err)
	}
	s.claims = claimsByInstance(s.cluster.Name, list)
	var failed error
	for _, claim := range s.claims {
		failed = errors.Join(failed, r.labelClaim(ctx, s, claim))
	}
	return failed
}

// adoptClaims gives our label to the claims that pods use and the cache does not have: a volume that was put under
// the name of an instance is that instance's, and what is not seen would count as lost.
func (r *Reconciler) adoptClaims(ctx context.Context, s *scope) error {
	var failed error
	for name := range s.pods {
		if s.claims[name] != nil {
			continue
		}
		claim := &corev1.PersistentVolumeClaim{}
		err := r.Uncached.Get(ctx, types.NamespacedName{Namespace: s.cluster.Namespace, Name: naming.PVC(name)}, claim)
		switch {
		case client.IgnoreNotFound(err) != nil:
			failed = errors.Join(failed, fmt.Errorf("get volume claim: %w", err))
		case err == nil:
			s.claims[name] = claim
			failed = errors.Join(failed, r.labelClaim(ctx, s, claim))
		}
	}
	return failed
}

func (r *Reconciler) labelClaim(ctx context.Context, s *scope, claim *corev1.PersistentVolumeClaim) error {
	if claim.Labels[naming.LabelCluster] == s.cluster.Name {
		return nil
	}
	labelled := claim.DeepCopy()
	if labelled.Labels == nil {
		labelled.Labels = map[string]string{}
	}
	maps.Copy(labelled.Labels, resources.Labels(s.cluster))
	return kube.PatchExact(ctx, r.Client, claim, labelled, naming.OwnerCluster)
}
