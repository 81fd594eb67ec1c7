// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// MySQLCluster is a replicated MySQL cluster: one primary that accepts writes, and replicas that acknowledge each
// of them before the client hears OK.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName={myc,mc},categories={mysql,all}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Instances",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Up",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Primary",type=string,JSONPath=`.status.primary`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.spec.version`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 40",message="the name of a MySQLCluster may have at most 40 characters: names of pods, volumes and Services are made from it"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="the name of a MySQLCluster must be a DNS label that begins with a letter (a-z, 0-9 and '-'): Services are named after it"
// +operator-sdk:csv:customresourcedefinitions:displayName="MySQL Cluster",resources={{StatefulSet,v1,""},{Service,v1,""},{Secret,v1,""},{ConfigMap,v1,""},{PersistentVolumeClaim,v1,""},{Pod,v1,""},{ServiceAccount,v1,""},{PodDisruptionBudget,v1,""},{NetworkPolicy,v1,""}},order=1
type MySQLCluster struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec is what the cluster should be.
	// +required
	Spec MySQLClusterSpec `json:"spec,omitzero"`
	// status is what the operator observed and decided.
	// +optional
	Status MySQLClusterStatus `json:"status,omitzero"`
}

// MySQLClusterList is a list of MySQLClusters.
//
// +kubebuilder:object:root=true
type MySQLClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []MySQLCluster `json:"items"`
}

// DefaultReplicas is the default of spec.replicas, for those who read a spec that no API server filled in.
const DefaultReplicas int32 = 3

// MySQLClusterSpec is what a cluster should be.
//
// +kubebuilder:validation:XValidation:rule="has(self.version) || has(self.image)",message="set spec.version (for example 9.7.4, which means docker.io/library/mysql:9.7.4) or spec.image"
// +kubebuilder:validation:XValidation:rule="!has(self.replication) || !has(self.replication.minInSync) || self.replication.minInSync <= self.replicas",message="replication.minInSync may not be greater than replicas: the primary would never open"
// +kubebuilder:validation:XValidation:rule="(has(oldSelf.image) && oldSelf.image.matches('(^|/)mysql(-server)?:[0-9]+[.][0-9]+') ? oldSelf.image.find('(^|/)mysql(-server)?:[0-9]+[.][0-9]+').find('[0-9]+[.][0-9]+$') : has(oldSelf.version) ? oldSelf.version.substring(0, 3) : '?') == '?' || (has(self.image) && self.image.matches('(^|/)mysql(-server)?:[0-9]+[.][0-9]+') ? self.image.find('(^|/)mysql(-server)?:[0-9]+[.][0-9]+').find('[0-9]+[.][0-9]+$') : has(self.version) ? self.version.substring(0, 3) : '?') == '?' || (has(self.image) && self.image.matches('(^|/)mysql(-server)?:[0-9]+[.][0-9]+') ? self.image.find('(^|/)mysql(-server)?:[0-9]+[.][0-9]+').find('[0-9]+[.][0-9]+$') : has(self.version) ? self.version.substring(0, 3) : '?') == (has(oldSelf.image) && oldSelf.image.matches('(^|/)mysql(-server)?:[0-9]+[.][0-9]+') ? oldSelf.image.find('(^|/)mysql(-server)?:[0-9]+[.][0-9]+').find('[0-9]+[.][0-9]+$') : has(oldSelf.version) ? oldSelf.version.substring(0, 3) : '?')",message="a living cluster stays within its MySQL series: changing between 8.4 and 9.7 is not supported yet; create a new cluster of that series and load a dump into it"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.bootstrap) || (has(self.bootstrap) && self.bootstrap == oldSelf.bootstrap)",message="bootstrap describes how the cluster was made and cannot change afterwards; create databases and users with SQL"
type MySQLClusterSpec struct {
	// replicas is the number of instances, the primary included.
	// Three instances survive the loss of any two with nothing lost.
	// It can grow; removing instances is refused until a later release brings safe removal (the rule below is
	// replaced by the planner's scale-down).
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	// +kubebuilder:validation:XValidation:rule="self >= oldSelf",message="replicas cannot be lowered yet: an instance would have to leave the in-sync set first; delete and re-create the cluster from a dump, or keep the instances"
	// +kubebuilder:default=3
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// version is the MySQL version, of series 8.4 or 9.7, for example 9.7.4. It means the image
	// docker.io/library/mysql:<version> unless the operator was started with another repository.
	// A living cluster stays within its series (the rule of the spec that says so is replaced by the planner's upgrade
	// from one series to the next in a later release).
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('8.0.') && self != '8.0'",message="MySQL 8.0 is at its end of life and not supported: use a version of series 8.4 or 9.7"
	// +kubebuilder:validation:XValidation:rule="self.startsWith('8.0') || self.matches('^(8[.]4|9[.]7)[.][0-9]+$')",message="version must be a full version of a supported series, 8.4.x or 9.7.x, for example 9.7.4"
	// +optional
	Version string `json:"version,omitempty"`

	// image is a container image to use instead of the one that version names. It must have mysqld, mysql and
	// mysqldump on PATH and run as any non-root user.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="!self.matches('^(.*/)?mysql:8[.]0([.][0-9]+)?([^0-9].*)?$')",message="MySQL 8.0 is at its end of life and not supported: use an image of series 8.4 or 9.7"
	// +optional
	Image string `json:"image,omitempty"`

	// imagePullSecrets are names of Secrets in the same namespace used to pull the image.
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// storage is the volume of each instance.
	// +required
	Storage StorageSpec `json:"storage,omitzero"`

	// resources are the compute resources of the mysql container. The memory limit decides
	// innodb_buffer_pool_size and what hangs on it.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// mysql holds settings of the server.
	// +optional
	MySQL MySQLSpec `json:"mysql,omitzero"`

	// replication is how writes are made durable.
	// +optional
	Replication ReplicationSpec `json:"replication,omitzero"`

	// bootstrap is how the first instance gets its data.
	// +kubebuilder:default={initdb: {}}
	// +optional
	Bootstrap *BootstrapSpec `json:"bootstrap,omitempty"`

	// podTemplate overrides parts of the instances' pods.
	// +optional
	PodTemplate *PodTemplateSpec `json:"podTemplate,omitempty"`

	// placement is where the instances run.
	// +optional
	Placement PlacementSpec `json:"placement,omitzero"`

	// deletionPolicy is what happens to the volumes and to the Secrets <name>-internal and <name>-app when the
	// MySQLCluster is deleted. Retain keeps them, and a MySQLCluster of the same name takes them over again.
	// +kubebuilder:default=Retain
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// DeletionPolicy is what happens to data when a cluster is deleted.
//
// +kubebuilder:validation:Enum=Retain;Delete
type DeletionPolicy string

const (
	// DeletionRetain keeps the volumes and the Secrets that belong to their content.
	DeletionRetain DeletionPolicy = "Retain"
	// DeletionDelete deletes both, together.
	DeletionDelete DeletionPolicy = "Delete"
)

// StorageSpec is the volume of each instance.
//
// +kubebuilder:validation:XValidation:rule="has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)",message="storageClassName of a living cluster cannot be changed yet; create a new cluster on the other class"
type StorageSpec struct {
	// size is the requested size. It can grow where the StorageClass allows expansion; it cannot shrink (a later
	// release replaces this rule by moving instances to smaller volumes).
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).isGreaterThan(quantity('0'))",message="storage size must be greater than zero, for example 10Gi"
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).compareTo(quantity(string(oldSelf))) >= 0",message="storage size cannot shrink: a volume only grows; create a new cluster with the smaller size and load a dump into it"
	// +required
	Size resource.Quantity `json:"size,omitzero"`

	// storageClassName is the StorageClass; the default one of the Kubernetes cluster when absent.
	// It cannot change on a living cluster (a later release replaces the rule of storage that says so by moving
	// instances to new volumes, one after the other).
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	StorageClassName *string `json:"storageClassName,omitempty"`
}

// MySQLSpec holds settings of the server.
type MySQLSpec struct {
	// config are system variables for my.cnf, for example max_connections: "500". Variables that the operator
	// owns are refused, because the safety of the data rests on them. A change takes effect when an instance is
	// restarted (condition UpToDate, reason RestartPending, says which are waiting); a later release restarts
	// them in order by itself.
	// +kubebuilder:validation:MaxProperties=128
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[a-z][a-z0-9_.]*$') && size(k) <= 80)",message="a key of mysql.config is the name of a MySQL system variable in lower case with underscores, at most 80 characters"
	// +kubebuilder:validation:XValidation:rule="!['server_id', 'server_id_bits', 'server_uuid', 'gtid_mode', 'enforce_gtid_consistency', 'gtid_next', 'gtid_purged', 'log_replica_updates', 'log_slave_updates', 'sql_log_bin', 'binlog_format', 'binlog_gtid_simple_recovery', 'binlog_do_db', 'binlog_ignore_db', 'replica_skip_errors', 'slave_skip_errors', 'replica_exec_mode', 'slave_exec_mode', 'init_replica', 'init_slave', 'replica_preserve_commit_order', 'slave_preserve_commit_order', 'disabled_storage_engines', 'tc_heuristic_recover', 'log_bin', 'sync_binlog', 'binlog_error_action', 'binlog_order_commits', 'innodb_flush_log_at_trx_commit', 'innodb_doublewrite', 'innodb_flush_method', 'innodb_force_recovery', 'innodb_read_only', 'log_bin_index', 'binlog_checksum', 'binlog_encryption', 'relay_log', 'relay_log_index', 'relay_log_purge', 'relay_log_recovery', 'relay_log_space_limit', 'read_only', 'super_read_only', 'offline_mode', 'init_file', 'persisted_globals_load', 'replication_sender_observe_commit_only', 'replica_net_timeout', 'slave_net_timeout', 'early_plugin_load', 'clone', 'clone_valid_donor_list', 'performance_schema', 'port', 'socket', 'bind_address', 'create_admin_listener_thread', 'mysqlx', 'require_secure_transport', 'ssl_ca', 'ssl_capath', 'ssl_cert', 'ssl_key', 'ssl_crl', 'ssl_crlpath', 'tls_certificates_enforced_validation', 'auto_generate_certs', 'caching_sha2_password_auto_generate_rsa_keys', 'mandatory_roles', 'datadir', 'tmpdir', 'basedir', 'chroot', 'lc_messages_dir', 'character_sets_dir', 'pid_file', 'user', 'secure_file_priv', 'log_error', 'log_error_services', 'replica_load_tmpdir', 'slave_load_tmpdir', 'innodb_data_home_dir', 'innodb_log_group_home_dir', 'innodb_undo_directory', 'innodb_doublewrite_dir', 'innodb_temp_tablespaces_dir', 'innodb_tmpdir', 'lower_case_table_names', 'innodb_page_size', 'innodb_data_file_path', 'innodb_dedicated_server', 'container_aware', 'server_memory', 'initialize', 'initialize_insecure', 'upgrade', 'validate_config', 'daemonize', 'console', 'gdb', 'help', 'verbose', 'version', 'bootstrap', 'defaults_file', 'defaults_extra_file', 'defaults_group_suffix', 'no_defaults', 'print_defaults', 'login_path', 'no_login_paths'].exists(k, k in self)",message="mysql.config has a key that the operator owns (such as server_id, gtid_mode, log_bin, read_only, datadir, port, ssl_*, plugin_load, rpl_semi_sync_*): remove it; the safety of the data rests on it, and docs/reference/config.md lists them all"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !['replicate_', 'rpl_semi_sync_', 'plugin_', 'clone_ssl_', 'group_replication_', 'admin_', 'mysqlx_', 'report_', 'loose_', 'skip_', 'enable_', 'disable_', 'maximum_'].exists(p, k.startsWith(p)))",message="mysql.config has a key that the operator owns (such as server_id, gtid_mode, log_bin, read_only, datadir, port, ssl_*, plugin_load, rpl_semi_sync_*): remove it; the safety of the data rests on it, and docs/reference/config.md lists them all"
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(self[k]) <= 1024)",message="a value of mysql.config is one line of at most 1024 characters"
	// +optional
	Config map[string]string `json:"config,omitempty"`
}

// ReplicationSpec is how writes are made durable.
type ReplicationSpec struct {
	// minInSync is how many instances, the primary included, must hold a write before it is acknowledged.
	// Below it the primary does not open, and an open one lets writes wait. The default is 2 (1 for a single
	// instance). Every instance that is in sync acknowledges, so with three healthy instances it is three.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	// +optional
	MinInSync *int32 `json:"minInSync,omitempty"`
}

// BootstrapSpec is how the first instance gets its data.
type BootstrapSpec struct {
	// initdb begins with an empty server, and a database with an owner.
	// +kubebuilder:default={}
	// +optional
	InitDB *InitDBSpec `json:"initdb,omitempty"`
}

// InitDBSpec is the application's first database and its owner.
type InitDBSpec struct {
	// database is created, and named in the Secret <name>-app.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[a-zA-Z][a-zA-Z0-9_]*$`
	// +kubebuilder:validation:XValidation:rule="!(self in ['mysql', 'sys', 'information_schema', 'performance_schema'])",message="database may not be one of MySQL's own schemas"
	// +kubebuilder:default=app
	// +optional
	Database string `json:"database,omitempty"`

	// owner is the account with all rights on the database. Its password is taken from the Secret <name>-app
	// (key password) if that exists, else generated there.
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-zA-Z][a-zA-Z0-9_]*$`
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('keelson') && !self.startsWith('mysql') && self != 'root'",message="owner may not be root nor begin with 'keelson' or 'mysql': those accounts are reserved"
	// +kubebuilder:default=app
	// +optional
	Owner string `json:"owner,omitempty"`
}

// PodTemplateSpec overrides parts of the instances' pods.
type PodTemplateSpec struct {
	// labels are added to the pods. Keys below mysql.keelson.dev and app.kubernetes.io are the operator's.
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('mysql.keelson.dev/') && !k.startsWith('app.kubernetes.io/'))",message="labels below mysql.keelson.dev/ and app.kubernetes.io/ belong to the operator"
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are added to the pods.
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('mysql.keelson.dev/'))",message="annotations below mysql.keelson.dev/ belong to the operator"
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// spec is a PodSpec that is merged over the operator's by strategic merge: name a container to change it, or
	// give a new name to add one. The operator's volumes, and command and ports of the container mysql, cannot be
	// replaced.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +optional
	Spec *runtime.RawExtension `json:"spec,omitempty"`
}

// PlacementSpec is where instances run.
type PlacementSpec struct {
	// nodeSelector selects nodes by their labels.
	// +kubebuilder:validation:MaxProperties=32
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// affinity replaces the operator's default, which prefers a node of its own for each instance.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// tolerations of the pods.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// topologySpread are topology spread constraints. A constraint without a labelSelector gets the cluster's.
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	// +optional
	TopologySpread []corev1.TopologySpreadConstraint `json:"topologySpread,omitempty"`

	// requireSeparateNodes makes the preference for separate nodes a requirement: an instance that finds no node
	// of its own stays Pending.
	// +optional
	RequireSeparateNodes bool `json:"requireSeparateNodes,omitempty"`
}
