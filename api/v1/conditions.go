// SPDX-License-Identifier: Apache-2.0

package v1

// ConditionType is the type of a condition of a MySQLCluster. The comment of each constant is its contract.
type ConditionType string

const (
	// ConditionReady is the summary that `kubectl wait --for=condition=Ready` wants.
	// True: Available, Durable (a single instance is taken as asked for), and every instance asked for is Ready. Reason
	// AllInstancesReady.
	// False: one of these is not so. What keeps a pod from running (ImagePullFailed, PodUnschedulable, ContainerFailing)
	// comes before the planner's reasons, because it is what a person must mend. Deleting comes before all.
	// Unknown: never.
	ConditionReady ConditionType = "Ready"
	// ConditionAvailable tells whether the cluster accepts writes now.
	// True: the primary is open. Reason PrimaryOpen.
	// False: it is not; the reason is the planner's (Bootstrapping, PrimaryDown, WaitingForInstances, …), or Deleting.
	// Unknown: the primary's manager does not answer, so nobody can tell. Reason PrimaryUnreachable.
	ConditionAvailable ConditionType = "Available"
	// ConditionDurable tells whether an acknowledged write survives the loss of the primary.
	// True: at least minInSync instances are in sync, and more than one where replicas > 1. Reason InSync.
	// False: fewer are. Reason TooFewInSync, or SingleInstance for replicas: 1.
	// Unknown: before bootstrap. Reason NotBootstrapped.
	ConditionDurable ConditionType = "Durable"
	// ConditionProgressing tells whether the operator is changing something.
	// True: a step is under way; the reason is the planner's, or Deleting.
	// False: nothing is to be done. Reason Steady; or a person must help: the planner's reason.
	ConditionProgressing ConditionType = "Progressing"
	// ConditionUpToDate tells whether every instance runs what the spec says.
	// True: it does. Reason AllUpToDate.
	// False: RestartPending: the message names the instances that run with older settings or pod template; they
	// take the new ones when they are restarted. StorageGrowing: volumes are being expanded. StorageGrowRefused: their
	// StorageClass does not let them grow. InvalidSpec: the spec
	// cannot be carried out as written; the message says what to change. ApplyFailed: the API server refused an object.
	// Unknown: the StatefulSet controller has not looked at the newest pod template, so nobody can tell which pods are
	// older. Reason WaitingForStatefulSet. Or the cluster is paused and not compared with its spec. Reason PausedByUser.
	ConditionUpToDate ConditionType = "UpToDate"
	// ConditionCertificatesValid tells whether the cluster's certificates are valid for long enough.
	// True: reason Valid. False: Expiring (renewal failed) or Invalid (the CA Secret cannot be used).
	ConditionCertificatesValid ConditionType = "CertificatesValid"
	// ConditionPaused tells whether the operator was told to keep its hands off.
	// True: annotation mysql.keelson.dev/paused is "true". Reason PausedByUser. False: reason NotPaused.
	ConditionPaused ConditionType = "Paused"
	// ConditionDegraded is computed for consoles: True when not Durable (a single instance is taken as asked for) or when
	// fewer instances are healthy than asked for.
	ConditionDegraded ConditionType = "Degraded"
)

// Reason is the reason of a condition, an event, a metric or a decision. Reasons that the planner gives have the
// same text there; a test compares the two lists.
type Reason string

// Reasons that the operator gives besides the planner's (docs/reference/conditions.md lists both).
const (
	// ReasonAllInstancesReady means that every instance asked for is Ready.
	ReasonAllInstancesReady Reason = "AllInstancesReady"
	// ReasonInstancesNotReady means that the message names instances that are not Ready, and why.
	ReasonInstancesNotReady Reason = "InstancesNotReady"
	// ReasonPrimaryOpen means that the primary accepts writes.
	ReasonPrimaryOpen Reason = "PrimaryOpen"
	// ReasonPrimaryUnreachable means that the primary's manager does not answer the operator. Clients may well reach the primary.
	ReasonPrimaryUnreachable Reason = "PrimaryUnreachable"
	// ReasonInSync means that at least minInSync instances hold every acknowledged write.
	ReasonInSync Reason = "InSync"
	// ReasonTooFewInSync means that fewer than minInSync instances hold every acknowledged write. Bring the lost ones back.
	ReasonTooFewInSync Reason = "TooFewInSync"
	// ReasonSingleInstance means that there is one instance only, as asked for, and so no copy.
	ReasonSingleInstance Reason = "SingleInstance"
	// ReasonNotBootstrapped means that the cluster has no data yet.
	ReasonNotBootstrapped Reason = "NotBootstrapped"
	// ReasonSteady means that nothing is to be done.
	ReasonSteady Reason = "Steady"
	// ReasonAllUpToDate means that every instance runs what the spec says.
	ReasonAllUpToDate Reason = "AllUpToDate"
	// ReasonRestartPending means that instances run with older settings or an older pod template. They take the new ones when their pods
	// are deleted, one after the other.
	ReasonRestartPending Reason = "RestartPending"
	// ReasonStorageGrowing means that volumes are being expanded.
	ReasonStorageGrowing Reason = "StorageGrowing"
	// ReasonWaitingForStatefulSet means that the StatefulSet controller has not looked at the newest pod template yet.
	ReasonWaitingForStatefulSet Reason = "WaitingForStatefulSet"
	// ReasonStorageGrowRefused means that the StorageClass does not let its volumes grow. Set allowVolumeExpansion on it if its driver
	// can do it, or set storage.size back.
	ReasonStorageGrowRefused Reason = "StorageGrowRefused"
	// ReasonInvalidSpec means that the spec cannot be carried out as written. The message says what to change.
	ReasonInvalidSpec Reason = "InvalidSpec"
	// ReasonApplyFailed means that the API server refused an object of the cluster. The message says which, and why.
	ReasonApplyFailed Reason = "ApplyFailed"
	// ReasonCertificatesValid means that certificates are valid and renewed in time.
	ReasonCertificatesValid Reason = "Valid"
	// ReasonExpiring means that a certificate could not be renewed, or that the authority ends soon. The message says what to do.
	ReasonExpiring Reason = "Expiring"
	// ReasonCertificateInvalid means that the Secret of the authority cannot be used. Delete it and a new authority is made.
	ReasonCertificateInvalid Reason = "Invalid"
	// ReasonPausedByUser means that the annotation mysql.keelson.dev/paused is "true". Remove it and the operator goes on.
	ReasonPausedByUser Reason = "PausedByUser"
	// ReasonNotPaused means that the operator looks after the cluster.
	ReasonNotPaused Reason = "NotPaused"
	// ReasonImagePullFailed means that an image cannot be pulled. Correct spec.version, spec.image or spec.imagePullSecrets.
	ReasonImagePullFailed Reason = "ImagePullFailed"
	// ReasonPodUnschedulable means that no node takes a pod. The message holds the scheduler's words.
	ReasonPodUnschedulable Reason = "PodUnschedulable"
	// ReasonContainerFailing means that a container of a pod cannot start, or ends again and again. The message says how.
	ReasonContainerFailing Reason = "ContainerFailing"
	// ReasonDeleting means that the cluster is being deleted. The message says what that waits for.
	ReasonDeleting Reason = "Deleting"
)
