// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	instances "github.com/keelson-dev/mysql-operator/internal/instance/client"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/resources"
)

// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch

// observe reads the objects of the cluster.
func (r *Reconciler) observe(ctx context.Context, s *scope) error {
	set := &appsv1.StatefulSet{}
	key := types.NamespacedName{Namespace: s.cluster.Namespace, Name: naming.StatefulSet(s.cluster.Name)}
	switch err := r.Client.Get(ctx, key, set); {
	case err == nil:
		s.set = set
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("get StatefulSet: %w", err)
	}
	if err := r.observePods(ctx, s); err != nil {
		return err
	}
	return r.observeClaims(ctx, s)
}

func (r *Reconciler) observePods(ctx context.Context, s *scope) error {
	list := &corev1.PodList{}
	if err := r.Client.List(ctx, list, client.InNamespace(s.cluster.Namespace), client.MatchingLabels(resources.Selector(s.cluster))); err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	s.pods = map[string]*corev1.Pod{}
	for i := range list.Items {
		pod := &list.Items[i]
		if _, ok := naming.Ordinal(s.cluster.Name, pod.Name); ok {
			s.pods[pod.Name] = pod
		}
	}
	return nil
}

func (r *Reconciler) observeClaims(ctx context.Context, s *scope) error {
	list := &corev1.PersistentVolumeClaimList{}
	if err := r.Client.List(ctx, list, client.InNamespace(s.cluster.Namespace), client.MatchingLabels(resources.Selector(s.cluster))); err != nil {
		return fmt.Errorf("list volume claims: %w", err)
	}
	s.claims = claimsByInstance(s.cluster.Name, list)
	return nil
}

// claimsByInstance returns the claims whose name is that of an instance's.
func claimsByInstance(cluster string, list *corev1.PersistentVolumeClaimList) map[string]*corev1.PersistentVolumeClaim {
	out := map[string]*corev1.PersistentVolumeClaim{}
	prefix := naming.PVC("")
	for i := range list.Items {
		claim := &list.Items[i]
		instance, ok := strings.CutPrefix(claim.Name, prefix)
		if _, is := naming.Ordinal(cluster, instance); ok && is {
			out[instance] = claim
		}
	}
	return out
}

// connect keeps streams to exactly the pods that exist, and reads what their instances said.
func (r *Reconciler) connect(s *scope) error {
	keep := map[string]bool{}
	s.said = map[string]Observation{}
	for name, pod := range s.pods {
		if pod.Status.PodIP == "" {
			continue
		}
		keep[name] = true
		if err := r.track(s, name, pod); err != nil {
			return err
		}
		s.said[name] = r.Instances.Observe(r.key(s, name))
	}
	r.Instances.Forget(s.cluster.Namespace, s.cluster.Name, keep)
	return nil
}

func (r *Reconciler) key(s *scope, instance string) instances.Key {
	return instances.Key{Namespace: s.cluster.Namespace, Cluster: s.cluster.Name, Instance: instance}
}
