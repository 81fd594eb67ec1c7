// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// StatefulSet returns the StatefulSet of a cluster. size is the size of the volumes it makes, which is the spec's
// unless the StorageClass refuses to let volumes grow. OnDelete: the operator alone decides which instance restarts
// when; Parallel: a repair never waits for an instance with a lower number (I7).
func StatefulSet(in Input, size resource.Quantity) (*appsv1ac.StatefulSetApplyConfiguration, error) {
	pod, err := podSpec(in)
	if err != nil {
		return nil, err
	}
	hash, err := configHash(in.Cluster)
	if err != nil {
		return nil, err
	}
	annotations := map[string]string{}
	if t := in.Cluster.Spec.PodTemplate; t != nil {
		maps.Copy(annotations, t.Annotations)
	}
	annotations[naming.AnnotationConfigHash] = hash
	template := corev1ac.PodTemplateSpec().
		WithLabels(podLabels(in.Cluster)).
		WithAnnotations(annotations).
		WithSpec(pod)
	return appsv1ac.StatefulSet(naming.StatefulSet(in.Cluster.Name), in.Cluster.Namespace).
		WithLabels(Labels(in.Cluster)).
		WithOwnerReferences(Owner(in.Cluster)).
		WithSpec(appsv1ac.StatefulSetSpec().
			WithReplicas(Replicas(in.Cluster)).
			WithServiceName(naming.Headless(in.Cluster.Name)).
			WithPodManagementPolicy(appsv1.ParallelPodManagement).
			WithUpdateStrategy(appsv1ac.StatefulSetUpdateStrategy().WithType(appsv1.OnDeleteStatefulSetStrategyType)).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(Selector(in.Cluster))).
			WithPersistentVolumeClaimRetentionPolicy(appsv1ac.StatefulSetPersistentVolumeClaimRetentionPolicy().
				WithWhenDeleted(appsv1.RetainPersistentVolumeClaimRetentionPolicyType).
				WithWhenScaled(appsv1.RetainPersistentVolumeClaimRetentionPolicyType)).
			WithTemplate(template).
			WithVolumeClaimTemplates(claim(in.Cluster, size))), nil
}

// claim is the template of the volume claims. They have no owner: data outlives its cluster unless deletionPolicy
// says Delete, and then the operator itself deletes it.
func claim(cluster *mysqlv1.MySQLCluster, size resource.Quantity) *corev1ac.PersistentVolumeClaimApplyConfiguration {
	spec := corev1ac.PersistentVolumeClaimSpec().
		WithAccessModes(corev1.ReadWriteOnce).
		WithVolumeMode(corev1.PersistentVolumeFilesystem).
		WithResources(corev1ac.VolumeResourceRequirements().
			WithRequests(corev1.ResourceList{corev1.ResourceStorage: size}))
	spec.StorageClassName = cluster.Spec.Storage.StorageClassName
	// The API server fills in the status of a template too, and the list of templates is compared as a whole.
	status := corev1ac.PersistentVolumeClaimStatus().WithPhase(corev1.ClaimPending)
	template := &corev1ac.PersistentVolumeClaimApplyConfiguration{}
	return template.
		WithName(naming.VolumeData).
		WithLabels(Labels(cluster)).
		WithSpec(spec).
		WithStatus(status)
}
