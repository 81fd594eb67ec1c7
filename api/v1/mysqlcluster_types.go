// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MySQLClusterSpec is what the user asks for.
// +kubebuilder:validation:MinProperties=1
type MySQLClusterSpec struct {
	// replicas is the number of instances, the primary included.
	// +optional
	// +default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=99
	Replicas int32 `json:"replicas,omitempty"`
}

// MySQLClusterStatus is what the operator observed.
// +kubebuilder:validation:MinProperties=1
type MySQLClusterStatus struct {
	// conditions say how the cluster is.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MySQLCluster is a replicated MySQL.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:categories=mysql;all,shortName=myc;mc
type MySQLCluster struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the user asks for.
	// +required
	Spec MySQLClusterSpec `json:"spec,omitzero"`

	// status is what the operator observed.
	// +optional
	Status MySQLClusterStatus `json:"status,omitzero"`
}

// MySQLClusterList is a list of clusters.
// +kubebuilder:object:root=true
type MySQLClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []MySQLCluster `json:"items"`
}
