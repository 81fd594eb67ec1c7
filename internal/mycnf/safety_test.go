// SPDX-License-Identifier: Apache-2.0

package mycnf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keelson-dev/mysql-operator/internal/testing/golden"
	"github.com/keelson-dev/mysql-operator/internal/testing/mysqld"
)

func testServer(dir string) Server {
	return Server{
		Paths: Paths{
			Datadir: filepath.Join(dir, "data"), Socket: filepath.Join(dir, "s"), PIDFile: filepath.Join(dir, "pid"), Tmpdir: dir,
		},
		ServerID: 4294967295, ReportHost: "c-0", BindAddress: "127.0.0.1", Port: 0, AdminPort: 0,
	}
}

func TestCommandLines(t *testing.T) {
	paths := Paths{
		Config: "/run/keelson/my.cnf", Datadir: "/var/lib/mysql/data", Socket: "/run/keelson/mysqld.sock",
		PIDFile: "/run/keelson/mysqld.pid", Tmpdir: "/tmp", InitFile: "/run/keelson/init.sql",
		TLSCA: "/run/keelson/tls/ca.crt", TLSCert: "/run/keelson/tls/tls.crt", TLSKey: "/run/keelson/tls/tls.key",
	}
	server := Server{Paths: paths, ServerID: 7, ReportHost: "c-0", BindAddress: "*", Port: 3306, AdminPort: 33062}
	wanted := map[string]bool{}
	for name, flags := range map[string][]string{
		"safety": SafetyFlags(server), "initialize": InitializeFlags(paths), "scratch": ScratchFlags(paths),
	} {
		file := filepath.Join("testdata", "flags", name+".golden.txt")
		wanted[file] = true
		golden.Compare(t, file, []byte(strings.Join(flags, "\n")+"\n"))
	}
	golden.NoOrphans(t, filepath.Join("testdata", "flags"), wanted)
}

func TestDefaultsFileComesFirstOrIsRefusedByMysqld(t *testing.T) {
	if got := SafetyFlags(Server{Paths: Paths{Config: "/c"}})[0]; got != "--defaults-file=/c" {
		t.Errorf("first flag is %s, want --defaults-file=/c", got)
	}
	if got := SafetyFlags(Server{})[0]; got != "--no-defaults" {
		t.Errorf("first flag is %s, want --no-defaults", got)
	}
}

// TestPersistedVariablesNeverOpenAServer is C5 on a real server: whatever an administrator persists, the next start
// is read-only, offline, and acknowledges nothing. Values of mysql.config reach the server unchanged on the way.
func TestPersistedVariablesNeverOpenAServer(t *testing.T) {
	dir, err := os.MkdirTemp("", "kmy") //nolint:usetesting // the path of a socket may have at most 107 characters
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := testServer(dir)
	s.Paths.Config, s.Paths.InitFile = filepath.Join(dir, "my.cnf"), filepath.Join(dir, "init.sql")
	odd := `SET @note = 'a # b; c\d "e"	f'`
	cnf, err := Render(Input{
		Version: mysqld.Version(t), MemoryLimit: 512 * miB,
		Settings: Settings{Config: map[string]string{"init_connect": odd, "sql_mode": "", "max_connections": "123"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.Paths.Config, string(cnf))
	write(t, s.Paths.InitFile, "SET sql_log_bin=0;\nCREATE USER IF NOT EXISTS probe@localhost IDENTIFIED BY 'x';\n")
	mysqld.Initialize(t, InitializeFlags(s.Paths)...)

	first := mysqld.Start(t, s.Paths.Socket, SafetyFlags(s)...)
	closedState := func(server *mysqld.Server) string {
		return server.Query(t, `SELECT @@read_only, @@super_read_only, @@offline_mode, @@skip_replica_start, @@sync_binlog,
			@@rpl_semi_sync_source_enabled, @@rpl_semi_sync_source_timeout, @@gtid_mode, @@server_id, @@innodb_flush_log_at_trx_commit,
			@@relay_log_recovery, @@rpl_semi_sync_source_wait_point`)
	}
	want := "1\t1\t1\t1\t1\t0\t18446744073709551615\tON\t4294967295\t1\t0\tAFTER_SYNC"
	if diff := cmp.Diff(want, closedState(first)); diff != "" {
		t.Errorf("first start mismatch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(odd+"\t\t123", first.Query(t, "SELECT @@init_connect, @@sql_mode, @@max_connections")); diff != "" {
		t.Errorf("values of my.cnf mismatch (-want +got):\n%s", diff)
	}
	// An init file may write although super_read_only is on from the start: lost passwords heal that way.
	if got := first.Query(t, "SELECT COUNT(*) FROM mysql.user WHERE user = 'probe'"); got != "1" {
		t.Errorf("the init file made %s accounts, want 1", got)
	}
	if got := first.Query(t, "SELECT @@gtid_executed"); got != "" {
		t.Errorf("gtid_executed = %s after initialisation, want nothing (I9)", got)
	}
	first.Query(t, `SET PERSIST read_only = OFF; SET PERSIST super_read_only = OFF; SET PERSIST offline_mode = OFF;
		SET PERSIST rpl_semi_sync_source_enabled = ON; SET PERSIST rpl_semi_sync_source_timeout = 100; SET PERSIST sync_binlog = 0;
		SET PERSIST innodb_flush_log_at_trx_commit = 0; SET PERSIST_ONLY skip_replica_start = OFF; SET PERSIST_ONLY relay_log_recovery = ON;
		SET PERSIST max_connections = 321`)
	first.Stop(t)

	second := mysqld.Start(t, s.Paths.Socket, SafetyFlags(s)...)
	if diff := cmp.Diff(want, closedState(second)); diff != "" {
		t.Errorf("start after SET PERSIST mismatch (-want +got):\n%s", diff)
	}
	if got := second.Query(t, "SELECT @@max_connections"); got != "123" {
		t.Errorf("max_connections = %s, want what the spec says, 123", got)
	}
	second.Stop(t)
	for line := range strings.Lines(second.Log()) {
		if strings.Contains(line, `"label" : "Error"`) || strings.Contains(line, "[ERROR]") {
			t.Errorf("mysqld logs an error: %s", line)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestScratchServer starts the server that receives a clone: it has the plugins of a donor, no network, and fits.
func TestScratchServer(t *testing.T) {
	dir, err := os.MkdirTemp("", "kmy") //nolint:usetesting // the path of a socket may have at most 107 characters
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := testServer(dir).Paths
	p.TLSCA, p.TLSCert, p.TLSKey = "/ca", "/crt", "/key"
	mysqld.Initialize(t, InitializeFlags(p)...)
	server := mysqld.Start(t, p.Socket, ScratchFlags(p)...)
	want := "1\t0\tNULL\t/ca\t/crt\t/key\t3"
	got := server.Query(t, `SELECT @@skip_networking, @@log_bin, @@secure_file_priv, @@clone_ssl_ca, @@clone_ssl_cert, @@clone_ssl_key,
		(SELECT COUNT(*) FROM information_schema.plugins WHERE plugin_status = 'ACTIVE'
			AND plugin_name IN ('clone', 'rpl_semi_sync_source', 'rpl_semi_sync_replica'))`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scratch server mismatch (-want +got):\n%s", diff)
	}
	if resident := server.ResidentMiB(t); resident >= 512 {
		t.Errorf("the scratch server has %d MiB resident, which does not fit into the smallest limit that is accepted, 512Mi", resident)
	}
}
