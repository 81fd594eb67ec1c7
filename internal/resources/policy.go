// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// PodDisruptionBudget lets one instance at a time be evicted: two at once could be the primary and the only other
// member in sync.
func PodDisruptionBudget(in Input) *policyv1ac.PodDisruptionBudgetApplyConfiguration {
	return policyv1ac.PodDisruptionBudget(naming.PDB(in.Cluster.Name), in.Cluster.Namespace).
		WithLabels(Labels(in.Cluster)).
		WithOwnerReferences(Owner(in.Cluster)).
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().
			WithMaxUnavailable(intstr.FromInt32(1)).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(Selector(in.Cluster))))
}

// ServiceAccount is what the instances run as. It mounts no token: an instance has no business with the API.
func ServiceAccount(in Input) *corev1ac.ServiceAccountApplyConfiguration {
	return corev1ac.ServiceAccount(naming.ServiceAccount(in.Cluster.Name), in.Cluster.Namespace).
		WithLabels(Labels(in.Cluster)).
		WithOwnerReferences(Owner(in.Cluster)).
		WithAutomountServiceAccountToken(false)
}
