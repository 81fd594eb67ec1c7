// SPDX-License-Identifier: Apache-2.0

package mycnf

import (
	"slices"
	"strings"
)

// OwnedKey is a variable, or a family of variables, that mysql.config may not set.
type OwnedKey struct {
	Name   string
	Prefix bool // Name is what the variables of a family begin with
	Reason string
}

// Reasons why a key is owned, in the order of the documentation.
const (
	reasonIdentity = "Equal GTID sets must mean equal data: a filter, a skipped error or a re-used identity would make two instances differ without a trace."
	reasonDurable  = "A write is acknowledged only when it is on disk here and on every instance in sync; this setting decides what reaches the disk."
	reasonLogs     = "The manager reads binary and relay logs while mysqld is stopped, to find what an instance holds after a crash."
	reasonClosed   = "mysqld starts closed and read-only, and is opened by the manager when its role is known; otherwise a crashed primary would come back writable."
	reasonAck      = "Who acknowledges a write, and how a lost source is noticed, is decided by the operator's in-sync set."
	reasonNetwork  = "Services, certificates and the manager's own connections rest on it; every network account requires TLS."
	reasonFiles    = "The manager lays out the volumes, and files elsewhere would be lost, or missed by a clone."
	reasonFormat   = "It is fixed when the data directory is made, and all instances must agree in it."
	reasonMemory   = "Sizes follow from the memory limit of the container, not from the memory of the node."
	reasonMode     = "It is not a setting but another way of running mysqld, and the manager runs it."
	reasonOption   = "It is a prefix that turns one option into another; name the variable itself and give it a value."
)

// OwnedKeys returns every owned key. This is the only list: validation, the CEL rules of the API, and
// docs/reference/config.md are made from it.
func OwnedKeys() []OwnedKey {
	var keys []OwnedKey
	for _, g := range ownedGroups() {
		for name := range strings.FieldsSeq(g.names) {
			stem, prefix := strings.CutSuffix(name, "*")
			keys = append(keys, OwnedKey{Name: stem, Prefix: prefix, Reason: g.reason})
		}
	}
	return keys
}

type ownedGroup struct{ reason, names string }

// ownedGroups has a star after the name of a family. Old names (slave) are listed beside the new ones: mysqld knows both.
func ownedGroups() []ownedGroup {
	return []ownedGroup{
		{reasonIdentity, `server_id server_id_bits server_uuid gtid_mode enforce_gtid_consistency gtid_next gtid_purged
			log_replica_updates log_slave_updates sql_log_bin binlog_format binlog_gtid_simple_recovery binlog_do_db binlog_ignore_db
			replicate_* replica_skip_errors slave_skip_errors replica_exec_mode slave_exec_mode init_replica init_slave
			replica_preserve_commit_order slave_preserve_commit_order disabled_storage_engines tc_heuristic_recover`},
		{reasonDurable, `log_bin sync_binlog binlog_error_action binlog_order_commits innodb_flush_log_at_trx_commit
			innodb_doublewrite innodb_flush_method innodb_force_recovery innodb_read_only`},
		{reasonLogs, `log_bin_index binlog_checksum binlog_encryption relay_log relay_log_index relay_log_purge relay_log_recovery
			relay_log_space_limit`},
		{reasonClosed, `read_only super_read_only offline_mode init_file persisted_globals_load`},
		{reasonAck, `rpl_semi_sync_* replication_sender_observe_commit_only replica_net_timeout slave_net_timeout plugin_*
			early_plugin_load clone clone_ssl_* clone_valid_donor_list group_replication_* performance_schema`},
		{reasonNetwork, `port socket bind_address admin_* create_admin_listener_thread mysqlx mysqlx_* report_*
			require_secure_transport ssl_ca ssl_capath ssl_cert ssl_key ssl_crl ssl_crlpath tls_certificates_enforced_validation
			auto_generate_certs caching_sha2_password_auto_generate_rsa_keys mandatory_roles`},
		{reasonFiles, `datadir tmpdir basedir chroot lc_messages_dir character_sets_dir pid_file user secure_file_priv log_error
			log_error_services replica_load_tmpdir slave_load_tmpdir innodb_data_home_dir innodb_log_group_home_dir
			innodb_undo_directory innodb_doublewrite_dir innodb_temp_tablespaces_dir innodb_tmpdir`},
		{reasonFormat, `lower_case_table_names innodb_page_size innodb_data_file_path`},
		{reasonMemory, `innodb_dedicated_server container_aware server_memory`},
		{reasonMode, `initialize initialize_insecure upgrade validate_config daemonize console gdb help verbose version bootstrap
			defaults_file defaults_extra_file defaults_group_suffix no_defaults print_defaults login_path no_login_paths`},
		{reasonOption, strings.Join(optionPrefixes(), "* ") + "*"},
	}
}

// optionPrefixes are mysqld's own: loose_server_id sets server_id, and skip_log_bin clears log_bin. A few variables
// begin with one of them (skip_show_database); they cannot be set, for the sake of a rule without exceptions.
func optionPrefixes() []string { return []string{"loose_", "skip_", "enable_", "disable_", "maximum_"} }

// Normalize returns the one spelling of a variable's name that mysqld treats alike: lower case with underscores.
func Normalize(key string) string { return strings.ReplaceAll(strings.ToLower(key), "-", "_") }

// Owned tells whether the operator owns the variable, in whichever spelling.
func Owned(key string) bool {
	key = Normalize(key)
	return slices.ContainsFunc(OwnedKeys(), func(o OwnedKey) bool {
		return key == o.Name || o.Prefix && strings.HasPrefix(key, o.Name)
	})
}

// CELRules returns the rules of the API's mysql.config that refuse owned names and owned prefixes. They look names up
// in the map, rather than each key in a list: the API server refuses a rule whose estimated cost is too high.
func CELRules() []string {
	var names, prefixes []string
	for _, k := range OwnedKeys() {
		if k.Prefix {
			prefixes = append(prefixes, "'"+k.Name+"'")
		} else {
			names = append(names, "'"+k.Name+"'")
		}
	}
	return []string{
		"![" + strings.Join(names, ", ") + "].exists(k, k in self)",
		"self.all(k, ![" + strings.Join(prefixes, ", ") + "].exists(p, k.startsWith(p)))",
	}
}

// MessageOwned is what a refused key is told, the same in the CEL rules of the API.
const MessageOwned = "mysql.config has a key that the operator owns (such as server_id, gtid_mode, log_bin, read_only, datadir, " +
	"port, ssl_*, plugin_load, rpl_semi_sync_*): remove it; the safety of the data rests on it, and docs/reference/config.md lists " +
	"them all"
