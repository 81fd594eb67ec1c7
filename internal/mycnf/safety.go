// SPDX-License-Identifier: Apache-2.0

package mycnf

import "strconv"

// Names of files in the datadir that others look for.
const (
	// BinlogIndex lists the binlog files.
	BinlogIndex = "binlog.index"
	// RelayIndex lists the relay-log files.
	RelayIndex = "relay.index"
)

// Paths are the files that mysqld is told of.
type Paths struct {
	Config   string // my.cnf; empty: none is read
	Datadir  string
	Socket   string
	PIDFile  string
	Tmpdir   string
	InitFile string // SQL run at start before any connection; empty: none
	// TLSCA, TLSCert and TLSKey are the instance's own certificate, which it shows as a server and as a client.
	TLSCA, TLSCert, TLSKey string
}

// Server is what distinguishes one mysqld from another.
type Server struct {
	Paths Paths
	// ServerID is derived from the server_uuid: a server drops events with its own server_id, and ACKs are kept by it,
	// so both change together (ha-rules F6, C13).
	ServerID uint32
	// ReportHost is the name of the instance, shown by SHOW REPLICAS.
	ReportHost  string
	BindAddress string // "*" in a pod
	Port        int
	AdminPort   int // on loopback
}

// SafetyFlags returns mysqld's whole command line for a normal start. Neither my.cnf nor SET PERSIST beats it. The
// server comes up read-only, offline to clients, not receiving and not acknowledging; the manager changes that at run
// time when it knows the role.
func SafetyFlags(s Server) []string {
	flags := []string{defaultsFile(s.Paths.Config)}
	for _, group := range [][]option{
		files(s.Paths), network(s), identity(s), closed(), durable(), plugins(), acknowledgement(),
	} {
		flags = append(flags, spell(group)...)
	}
	return flags
}

// InitializeFlags returns the command line that makes a new datadir with a passwordless root@localhost. It reads no
// my.cnf: plugins are not loaded then, so that one of their variables there would make it fail. Nothing is logged to
// a binlog (I9: no local GTID before the data is complete).
func InitializeFlags(p Paths) []string {
	return append([]string{"--no-defaults", "--initialize-insecure"}, spell(append([]option{
		{"datadir", p.Datadir},
		{"tmpdir", p.Tmpdir},
		{"skip_log_bin", ""},
		{"auto_generate_certs", "OFF"},
		{"caching_sha2_password_auto_generate_rsa_keys", "OFF"},
	}, small()...))...)
}

// ScratchFlags returns the command line of the throw-away server that receives a clone: reachable through its socket
// only, with the certificate to log in at the donor.
func ScratchFlags(p Paths) []string {
	return append([]string{"--no-defaults"}, spell(append([]option{
		{"datadir", p.Datadir},
		{"socket", p.Socket},
		{"pid_file", p.PIDFile},
		{"tmpdir", p.Tmpdir},
		{"secure_file_priv", "NULL"},
		{"persisted_globals_load", "OFF"},
		{"skip_networking", "ON"},
		{"mysqlx", "OFF"},
		{"skip_log_bin", ""},
		{"skip_replica_start", "ON"},
		{"auto_generate_certs", "OFF"},
		{"caching_sha2_password_auto_generate_rsa_keys", "OFF"},
		// A recipient must have every plugin that is active at the donor.
		{"plugin_load_add", "mysql_clone.so"},
		{"plugin_load_add", "semisync_source.so"},
		{"plugin_load_add", "semisync_replica.so"},
		{"clone_ssl_ca", p.TLSCA},
		{"clone_ssl_cert", p.TLSCert},
		{"clone_ssl_key", p.TLSKey},
	}, small()...))...)
}

// small keeps a server that serves nobody within the least memory that validation accepts: with the server's own
// defaults it takes 545 MiB, and a clone would be killed by the kernel where mysqld afterwards runs well.
func small() []option {
	return []option{
		{"innodb_buffer_pool_size", "64M"},
		{"innodb_log_buffer_size", "8M"},
		{"max_connections", "10"},
		{"table_open_cache", "400"},
		{"table_definition_cache", "400"},
	}
}

func files(p Paths) []option {
	out := []option{
		{"datadir", p.Datadir},
		{"socket", p.Socket},
		{"pid_file", p.PIDFile},
		{"tmpdir", p.Tmpdir},
		{"secure_file_priv", "NULL"},
	}
	if p.InitFile != "" {
		out = append(out, option{"init_file", p.InitFile})
	}
	return out
}

func network(s Server) []option {
	out := []option{
		{"bind_address", s.BindAddress},
		{"port", strconv.Itoa(s.Port)},
		// A thread of its own: an administrator still gets in when max_connections is exhausted.
		{"admin_address", "127.0.0.1"},
		{"admin_port", strconv.Itoa(s.AdminPort)},
		{"create_admin_listener_thread", "ON"},
		{"mysqlx", "OFF"},
		{"skip_name_resolve", "ON"},
		{"require_secure_transport", "ON"},
		{"auto_generate_certs", "OFF"},
		{"caching_sha2_password_auto_generate_rsa_keys", "OFF"},
	}
	if s.Paths.TLSCA != "" {
		out = append(
			out,
			option{"ssl_ca", s.Paths.TLSCA},
			option{"ssl_cert", s.Paths.TLSCert},
			option{"ssl_key", s.Paths.TLSKey},
			// The admin listener borrows the certificate above, but not for the check below. Reload both when it changes:
			// ALTER INSTANCE RELOAD TLS, and again FOR CHANNEL mysql_admin.
			option{"admin_ssl_ca", s.Paths.TLSCA},
			option{"admin_ssl_cert", s.Paths.TLSCert},
			option{"admin_ssl_key", s.Paths.TLSKey},
			// A bad certificate stops the start, or the reload keeps the old one, instead of running without TLS.
			option{"tls_certificates_enforced_validation", "ON"},
		)
	}
	if s.ReportHost != "" {
		out = append(out, option{"report_host", s.ReportHost})
	}
	return out
}

func identity(s Server) []option {
	return []option{
		{"server_id", strconv.FormatUint(uint64(s.ServerID), 10)},
		{"gtid_mode", "ON"},
		{"enforce_gtid_consistency", "ON"},
		{"log_replica_updates", "ON"},
		{"replica_preserve_commit_order", "ON"},
		{"replica_exec_mode", "STRICT"},
		{"replica_skip_errors", "OFF"},
		// Rows of other engines survive a cut binlog while their GTID is gone (ha-rules C1).
		{"disabled_storage_engines", "MyISAM,MRG_MyISAM,BLACKHOLE,FEDERATED,ARCHIVE,MEMORY,CSV,EXAMPLE"},
	}
}

// closed: see ha-rules C5, A8 and F8. Members' accounts have CONNECTION_ADMIN, so offline_mode keeps out clients only.
func closed() []option {
	return []option{
		{"read_only", "ON"},
		{"super_read_only", "ON"},
		{"offline_mode", "ON"},
		{"skip_replica_start", "ON"},
		// The settings of the cluster are the spec's: what SET PERSIST wrote would be on one instance only, be lost with
		// a clone, and could keep mysqld from starting where no edit of the spec helps.
		{"persisted_globals_load", "OFF"},
	}
}

func durable() []option {
	return []option{
		{"log_bin", "binlog"},
		{"log_bin_index", BinlogIndex},
		{"sync_binlog", "1"},
		{"binlog_checksum", "CRC32"},
		{"binlog_encryption", "OFF"},
		{"binlog_error_action", "ABORT_SERVER"},
		{"binlog_order_commits", "ON"},
		{"binlog_gtid_simple_recovery", "ON"},
		{"innodb_flush_log_at_trx_commit", "1"},
		{"innodb_doublewrite", "ON"},
		// Names that do not contain the host's: a volume outlives its pod.
		{"relay_log", "relay"},
		{"relay_log_index", RelayIndex},
		{"relay_log_purge", "ON"},
		// ON would drop the relay logs at start, and with them transactions that were acknowledged (ha-rules A5).
		{"relay_log_recovery", "OFF"},
		// A receiver that stops at a full limit no longer acknowledges.
		{"relay_log_space_limit", "0"},
	}
}

// permanent makes the start fail without the plugin, and UNINSTALL PLUGIN too.
const permanent = "FORCE_PLUS_PERMANENT"

func plugins() []option {
	return []option{
		{"plugin_load_add", "mysql_clone.so"},
		{"plugin_load_add", "semisync_source.so"},
		{"plugin_load_add", "semisync_replica.so"},
		{"clone", permanent},
		{"rpl_semi_sync_source", permanent},
		{"rpl_semi_sync_replica", permanent},
		{"performance_schema", "ON"},
	}
}

// acknowledgement: see ha-rules C10, C13 and F7. Both sides are off at start: with the source side on, a replica's
// applier would wait for acknowledgements of replicas that it does not have.
func acknowledgement() []option {
	return []option{
		{"rpl_semi_sync_source_enabled", "OFF"},
		{"rpl_semi_sync_replica_enabled", "OFF"},
		{"rpl_semi_sync_source_timeout", "18446744073709551615"},
		{"rpl_semi_sync_source_wait_no_replica", "ON"},
		{"rpl_semi_sync_source_wait_point", "AFTER_SYNC"},
		{"replication_sender_observe_commit_only", "OFF"},
		// With a heartbeat of 1 s: a replica says that its source is gone within the failure threshold (3 s).
		{"replica_net_timeout", "3"},
	}
}

func defaultsFile(path string) string {
	if path == "" {
		return "--no-defaults"
	}
	return "--defaults-file=" + path
}

func spell(options []option) []string {
	out := make([]string, 0, len(options))
	for _, o := range options {
		if o.value == "" {
			out = append(out, "--"+o.name)
			continue
		}
		out = append(out, "--"+o.name+"="+o.value)
	}
	return out
}
