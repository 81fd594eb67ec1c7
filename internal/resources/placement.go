// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
)

// preferWeight is the weight of the default preference; only its being there matters.
const preferWeight = 100

// podAffinity returns the user's affinity, or the preference for a node of its own for each instance, and the
// requirement of it where that is asked for.
func podAffinity(cluster *mysqlv1.MySQLCluster) (*corev1ac.AffinityApplyConfiguration, error) {
	term := corev1.PodAffinityTerm{
		LabelSelector: &metav1.LabelSelector{MatchLabels: Selector(cluster)},
		TopologyKey:   corev1.LabelHostname,
	}
	affinity := cluster.Spec.Placement.Affinity.DeepCopy()
	if affinity == nil {
		affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
				{Weight: preferWeight, PodAffinityTerm: term},
			},
		}}
	}
	if cluster.Spec.Placement.RequireSeparateNodes {
		if affinity.PodAntiAffinity == nil {
			affinity.PodAntiAffinity = &corev1.PodAntiAffinity{}
		}
		anti := affinity.PodAntiAffinity
		anti.RequiredDuringSchedulingIgnoredDuringExecution = append(anti.RequiredDuringSchedulingIgnoredDuringExecution, term)
	}
	return convert[corev1ac.AffinityApplyConfiguration](affinity)
}

func addPlacement(cluster *mysqlv1.MySQLCluster, spec *corev1ac.PodSpecApplyConfiguration) error {
	placement := cluster.Spec.Placement
	if len(placement.NodeSelector) > 0 {
		spec.WithNodeSelector(placement.NodeSelector)
	}
	for _, toleration := range placement.Tolerations {
		ac, err := convert[corev1ac.TolerationApplyConfiguration](toleration)
		if err != nil {
			return err
		}
		spec.WithTolerations(ac)
	}
	for _, constraint := range placement.TopologySpread {
		if constraint.LabelSelector == nil {
			constraint.LabelSelector = &metav1.LabelSelector{MatchLabels: Selector(cluster)}
		}
		ac, err := convert[corev1ac.TopologySpreadConstraintApplyConfiguration](constraint)
		if err != nil {
			return err
		}
		spec.WithTopologySpreadConstraints(ac)
	}
	return nil
}
