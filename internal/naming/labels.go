// SPDX-License-Identifier: Apache-2.0

package naming

// Group is the API group, and the prefix of labels, annotations and finalizers.
const Group = "mysql.keelson.dev"

// Labels on the objects of a cluster.
const (
	LabelCluster  = Group + "/cluster"
	LabelInstance = Group + "/instance"
	// LabelRole is RolePrimary on the one open primary, RoleReplica on the others; written by OwnerRole only.
	LabelRole = Group + "/role"
	// LabelTraffic is TrafficRO on replicas within the lag limit; the Service -ro selects it.
	LabelTraffic = Group + "/traffic"

	// LabelControlPlane is ControlPlane on the operator's own pods (config/manager).
	LabelControlPlane = "control-plane"

	LabelAppName      = "app.kubernetes.io/name"
	LabelAppInstance  = "app.kubernetes.io/instance"
	LabelAppComponent = "app.kubernetes.io/component"
	LabelAppManagedBy = "app.kubernetes.io/managed-by"
)

// Values of labels.
const (
	RolePrimary = "primary"
	RoleReplica = "replica"
	TrafficRO   = "ro"

	ControlPlane = "controller-manager"

	AppName      = "mysql"
	AppComponent = "database"
	AppManagedBy = "keelson-mysql-operator"
)

// Annotations.
const (
	AnnotationCreatedBy    = Group + "/created-by"
	AnnotationReconcileNow = Group + "/reconcile-now"
	AnnotationRestartAt    = Group + "/restart-at"
	AnnotationFenced       = Group + "/fenced"
	AnnotationPaused       = Group + "/paused"
	// AnnotationConfigHash is the hash of the MySQL settings in the pod template: a changed setting is a changed
	// template, and so visible as a pending restart.
	AnnotationConfigHash = Group + "/config-hash"
)

// Finalizer guards the cleanup that ownership alone cannot do: PVCs and Secrets by deletionPolicy.
const Finalizer = Group + "/cleanup"

// Server-side apply field owners, one for each set of fields.
const (
	OwnerCluster = "mysql-operator/cluster"
	OwnerRole    = "mysql-operator/role"
	OwnerStatus  = "mysql-operator/status"
)

// OperatorNamespace is where the operator is installed by default.
const OperatorNamespace = "mysql-operator-system"
