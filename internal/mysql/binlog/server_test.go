// SPDX-License-Identifier: Apache-2.0

package binlog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
	"github.com/keelson-dev/mysql-operator/internal/testing/mysqld"
)

// realServer starts a server with binlogs and returns its datadir.
func realServer(t *testing.T) (s *mysqld.Server, datadir string) {
	t.Helper()
	// Not t.TempDir: the path of a socket may have at most 107 characters.
	dir, err := os.MkdirTemp("", "kbl") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	datadir = filepath.Join(dir, "data")
	socket := filepath.Join(dir, "s")
	mysqld.Initialize(t, "--no-defaults", "--initialize-insecure", "--datadir="+datadir, "--skip-log-bin")
	return mysqld.Start(t, socket, "--no-defaults", "--datadir="+datadir, "--socket="+socket, "--pid-file="+filepath.Join(dir, "pid"),
		"--skip-networking", "--mysqlx=OFF", "--log-bin=binlog", "--log-bin-index=binlog.index", "--innodb-buffer-pool-size=64M",
		"--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--server-id=1"), datadir
}

// statements are everything that ends a transaction in its own way; each line is one GTID unless it begins with a dash.
var statements = []string{
	"CREATE DATABASE app",
	"CREATE TABLE app.t (id INT PRIMARY KEY, v LONGTEXT)",
	"INSERT INTO app.t VALUES (1, 'a'), (2, 'b')",
	"- BEGIN; INSERT INTO app.t VALUES (3, 'c'); SAVEPOINT s; INSERT INTO app.t VALUES (4, 'd'); ROLLBACK TO s; INSERT INTO app.t VALUES (5, 'e'); COMMIT",
	"CREATE TABLE app.copy AS SELECT * FROM app.t",
	"CREATE TABLE app.my (id INT) ENGINE=MyISAM",
	"INSERT INTO app.my VALUES (1)",
	"ANALYZE TABLE app.t",
	"OPTIMIZE TABLE app.t",
	"FLUSH OPTIMIZER_COSTS",
	"CREATE USER u@localhost",
	"GRANT SELECT ON app.* TO u@localhost",
	"- XA START 'x'; INSERT INTO app.t VALUES (10, 'x'); XA END 'x'; XA PREPARE 'x'",
	"XA COMMIT 'x'",
	"- XA START 'y'; INSERT INTO app.t VALUES (11, 'y'); XA END 'y'; XA COMMIT 'y' ONE PHASE",
	"- SET SESSION binlog_transaction_compression=ON; INSERT INTO app.t VALUES (20, REPEAT('z', 100000))",
	"- SET gtid_next='AUTOMATIC:blue'; INSERT INTO app.t VALUES (30, 'tagged')",
	"- SET gtid_next='AUTOMATIC:a_tag_of_thirty_two_characters_x'; INSERT INTO app.t VALUES (31, 'tagged')",
	"- SET gtid_next='11111111-2222-3333-4444-555555555555:77'; BEGIN; COMMIT",
	"- SET gtid_next='aaaaaaaa-2222-3333-4444-555555555555:only_tags:9223372036854775000'; BEGIN; COMMIT",
	"ALTER TABLE app.t ADD COLUMN w INT",
	"TRUNCATE TABLE app.copy",
	"- UPDATE app.t SET v = REPEAT('y', 300000)",
	"DROP TABLE app.copy",
}

func executed(t *testing.T, s *mysqld.Server) gtid.Set {
	t.Helper()
	return gtid.MustParse(strings.ReplaceAll(s.Query(t, "SELECT @@GLOBAL.gtid_executed"), "\n", ""))
}

func TestScanFindsWhatTheServerExecuted(t *testing.T) {
	s, datadir := realServer(t)
	index := filepath.Join(datadir, "binlog.index")
	for i, statement := range statements {
		before := executed(t, s)
		s.Query(t, strings.TrimPrefix(statement, "- "))
		r, err := Scan(index)
		if err != nil {
			t.Fatalf("after %q: %v", statement, err)
		}
		after := executed(t, s)
		if !r.All().Equal(after) {
			t.Fatalf("after %q: scanned %s, executed %s", statement, r.All(), after)
		}
		if r.Truncated {
			t.Errorf("after %q: the file looks cut off", statement)
		}
		substantial := !after.Subtract(before).Intersect(r.Substantial).IsEmpty()
		if want := !harmless(statement); substantial != want {
			t.Errorf("after %q: substantial is %v, want %v", statement, substantial, want)
		}
		if i%5 == 4 {
			s.Query(t, "FLUSH BINARY LOGS")
		}
	}
	some, err := ScanFrom(index, "binlog.000004")
	if err != nil {
		t.Fatal(err)
	}
	if some.Files[0] != "binlog.000004" || !some.All().Equal(executed(t, s)) || some.Previous.IsEmpty() {
		t.Errorf("from the fourth file: %v, previous %s, all %s", some.Files, some.Previous, some.All())
	}
	if whole, err := ScanFrom(index, "binlog.999999"); err != nil || whole.Files[0] != "binlog.000001" {
		t.Errorf("from a file that is not there: %v, %v", whole.Files, err)
	}
	s.Query(t, "PURGE BINARY LOGS TO 'binlog.000003'")
	r, err := Scan(index)
	if err != nil {
		t.Fatal(err)
	}
	if !r.All().Equal(executed(t, s)) {
		t.Errorf("after a purge: scanned %s, executed %s", r.All(), executed(t, s))
	}
	if r.Previous.IsEmpty() || r.Files[0] != "binlog.000003" {
		t.Errorf("after a purge the oldest file is %s with Previous_gtids %s", r.Files[0], r.Previous)
	}
}

func harmless(statement string) bool {
	for _, word := range []string{"ANALYZE", "OPTIMIZE", "FLUSH", "- SET gtid_next='1", "- SET gtid_next='aaaa"} {
		if strings.HasPrefix(statement, word) {
			return true
		}
	}
	return false
}

// A transaction counts only when its last event is in the file, wherever the file is cut.
func TestScanOfATruncatedFile(t *testing.T) {
	s, datadir := realServer(t)
	path := filepath.Join(datadir, "binlog.000001")
	type end struct {
		size int64
		set  gtid.Set
	}
	var ends []end
	for _, statement := range append([]string{"SELECT 1"}, statements...) {
		s.Query(t, strings.TrimPrefix(statement, "- "))
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, end{info.Size(), executed(t, s)})
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	index := filepath.Join(dir, "binlog.index")
	write(t, index, []byte("./cut\n"))
	at := 0
	for size := ends[0].size; size <= int64(len(whole)); size += step(size, ends[at].size) {
		for at+1 < len(ends) && ends[at+1].size <= size {
			at++
		}
		write(t, filepath.Join(dir, "cut"), whole[:size])
		r, err := Scan(index)
		if err != nil {
			t.Fatalf("cut at %d: %v", size, err)
		}
		if !r.All().Equal(ends[at].set) {
			t.Fatalf("cut at %d: scanned %s, want %s", size, r.All(), ends[at].set)
		}
		if r.Truncated == (size == ends[at].size) {
			t.Fatalf("cut at %d: truncated is %v", size, r.Truncated)
		}
	}
}

// step goes byte by byte at the beginning of a transaction, and leaps over long rows.
func step(size, begin int64) int64 {
	if size-begin > 300 {
		return 331
	}
	return 1
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
