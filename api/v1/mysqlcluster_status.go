// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MySQLClusterStatus is what the operator observed and decided.
type MySQLClusterStatus struct {
	// observedGeneration is the generation of the spec this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase is a summary of the conditions for people: Pending, Initializing, Running, Degraded, Unavailable or
	// Deleting. Nothing decides from it.
	// +kubebuilder:validation:MaxLength=32
	// +optional
	Phase string `json:"phase,omitempty"`

	// replicas is the number of instances that exist (for /scale).
	// +optional
	Replicas int32 `json:"replicas"`

	// readyReplicas is the number of instances that are Ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// selector selects the instances' pods (for /scale).
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Selector string `json:"selector,omitempty"`

	// primary is a copy of ha.primary for people.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Primary string `json:"primary,omitempty"`

	// instances is what each instance says of itself, in order of their numbers.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Instances []InstanceStatus `json:"instances,omitempty"`

	// ha is the one thing high-availability decisions are made from. It is written by compare-and-swap only.
	// +optional
	HA *HAStatus `json:"ha,omitempty"`

	// conditions of the cluster; their contracts are the comments of the ConditionType constants.
	// +listType=map
	// +listMapKey=type
	// +optional
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// InstanceStatus is what is known of one instance.
type InstanceStatus struct {
	// name of the instance and its pod.
	// +kubebuilder:validation:MaxLength=64
	// +required
	Name string `json:"name,omitempty"`

	// role is primary, replica or empty while it has none.
	// +kubebuilder:validation:MaxLength=16
	// +optional
	Role string `json:"role,omitempty"`

	// inSync says that every acknowledged write is on this instance.
	// +optional
	InSync bool `json:"inSync,omitempty"`

	// ready is the readiness of its pod.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// state is what the instance manager reports, for example Running, Cloning or Offline; Unreachable when it
	// does not answer.
	// +kubebuilder:validation:MaxLength=32
	// +optional
	State string `json:"state,omitempty"`

	// version of mysqld that runs there.
	// +kubebuilder:validation:MaxLength=32
	// +optional
	Version string `json:"version,omitempty"`

	// node it runs on.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Node string `json:"node,omitempty"`

	// gtid is the executed GTID set of the primary, and for a replica what it lacks ("-<set>") and what only it
	// has ("+<set>"), or "=" for the same; cut at 512 characters. Updated when something else changes.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	GTID string `json:"gtid,omitempty"`

	// why it is not as it should be, in one sentence.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Why string `json:"why,omitempty"`
}

// MemberStatus is one member of the in-sync set.
type MemberStatus struct {
	// name of the instance.
	// +kubebuilder:validation:MaxLength=64
	// +required
	Name string `json:"name,omitempty"`

	// incarnation is the random id of its data; another incarnation of the same name is not a member.
	// +kubebuilder:validation:MaxLength=64
	// +required
	Incarnation string `json:"incarnation,omitempty"`
}

// HAStatus is the persisted state of the high-availability protocol. Each write raises revision.
type HAStatus struct {
	// clusterUID is random, made at bootstrap, and stored with the data of each instance.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	ClusterUID string `json:"clusterUID,omitempty"`

	// bootstrapping is the instance that was told to make the first datadir.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Bootstrapping string `json:"bootstrapping,omitempty"`

	// bootstrapped is true once data exists anywhere: from then on nothing is initialised from scratch again.
	// +optional
	Bootstrapped bool `json:"bootstrapped,omitempty"`

	// epoch rises by one each time the primary may change.
	// +optional
	Epoch int64 `json:"epoch,omitempty"`

	// revision rises by one with every write of this structure.
	// +optional
	Revision int64 `json:"revision,omitempty"`

	// primary of record.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Primary string `json:"primary,omitempty"`

	// inSync is the set of which every member holds every acknowledged write.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +optional
	InSync []MemberStatus `json:"inSync,omitempty"`

	// minInSync is the bound that was in force when inSync was last written.
	// +optional
	MinInSync int32 `json:"minInSync,omitempty"`

	// opened is true once the primary of this epoch was let open.
	// +optional
	Opened bool `json:"opened,omitempty"`

	// step is the orchestrated step under way, empty when there is none.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Step string `json:"step,omitempty"`

	// stepDeadline is when the step is given up.
	// +optional
	StepDeadline *metav1.Time `json:"stepDeadline,omitempty"`

	// reprovision is the incarnation that may be replaced by a clone, while that is under way.
	// +optional
	Reprovision *MemberStatus `json:"reprovision,omitzero"`

	// discarded are GTIDs that were never acknowledged and were cut.
	// +kubebuilder:validation:MaxLength=65536
	// +optional
	Discarded string `json:"discarded,omitempty"`
}
