// SPDX-License-Identifier: Apache-2.0

package v1

// ConditionType is the type of a condition of a MySQLCluster. The comment of each constant is its contract.
type ConditionType string

const (
	// ConditionReady is the summary that `kubectl wait --for=condition=Ready` wants.
	// True: Available, Durable (a single instance is taken as asked for), and every instance asked for is Ready. Reason
	// AllInstancesReady.
	// False: one of these is not so. What keeps a pod from running (ImagePullFailed, PodUnschedulable, ContainerFailing)
	// comes before the planner's reasons, because it is what a person must mend.
	// Unknown: never.
	ConditionReady ConditionType = "Ready"
	// ConditionAvailable tells whether the cluster accepts writes now.
	// True: the primary is open. Reason PrimaryOpen.
	// False: it is not; the reason is the planner's (Bootstrapping, PrimaryDown, WaitingForInstances, …).
	// Unknown: the primary's manager does not answer, so nobody can tell. Reason PrimaryUnreachable.
	ConditionAvailable ConditionType = "Available"
	// ConditionDurable tells whether an acknowledged write survives the loss of the primary.
	// True: at least minInSync instances are in sync, and more than one where replicas > 1. Reason InSync.
	// False: fewer are. Reason TooFewInSync, or SingleInstance for replicas: 1.
	// Unknown: before bootstrap. Reason NotBootstrapped.
	ConditionDurable ConditionType = "Durable"
	// ConditionProgressing tells whether the operator is changing something.
	// True: a step is under way; the reason is the planner's.
	// False: nothing is to be done. Reason Steady; or a person must help: the planner's reason.
	ConditionProgressing ConditionType = "Progressing"
	// ConditionUpToDate tells whether every instance runs what the spec says.
	// True: it does. Reason AllUpToDate.
	// False: RestartPending: the message names the instances that run with older settings or pod template; they
	// take the new ones when they are restarted. StorageGrowing: volumes are being expanded. StorageGrowRefused: their
	// StorageClass does not let them grow. InvalidSpec: the spec
	// cannot be carried out as written; the message says what to change. ApplyFailed: the API server refused an object.
	// Unknown: the StatefulSet controller has not looked at the newest pod template, so nobody can tell which pods are
	// older. Reason WaitingForStatefulSet.
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
	ReasonAllInstancesReady     Reason = "AllInstancesReady"
	ReasonInstancesNotReady     Reason = "InstancesNotReady"
	ReasonPrimaryOpen           Reason = "PrimaryOpen"
	ReasonPrimaryUnreachable    Reason = "PrimaryUnreachable"
	ReasonInSync                Reason = "InSync"
	ReasonTooFewInSync          Reason = "TooFewInSync"
	ReasonSingleInstance        Reason = "SingleInstance"
	ReasonNotBootstrapped       Reason = "NotBootstrapped"
	ReasonSteady                Reason = "Steady"
	ReasonAllUpToDate           Reason = "AllUpToDate"
	ReasonRestartPending        Reason = "RestartPending"
	ReasonStorageGrowing        Reason = "StorageGrowing"
	ReasonWaitingForStatefulSet Reason = "WaitingForStatefulSet"
	ReasonStorageGrowRefused    Reason = "StorageGrowRefused"
	ReasonInvalidSpec           Reason = "InvalidSpec"
	ReasonApplyFailed           Reason = "ApplyFailed"
	ReasonCertificatesValid     Reason = "Valid"
	ReasonExpiring              Reason = "Expiring"
	ReasonCertificateInvalid    Reason = "Invalid"
	ReasonPausedByUser          Reason = "PausedByUser"
	ReasonNotPaused             Reason = "NotPaused"
	ReasonImagePullFailed       Reason = "ImagePullFailed"
	ReasonPodUnschedulable      Reason = "PodUnschedulable"
	ReasonContainerFailing      Reason = "ContainerFailing"
	ReasonDeleting              Reason = "Deleting"
)
