// SPDX-License-Identifier: Apache-2.0

package mysqld

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/keelson-dev/mysql-operator/internal/version"
)

// EnvBin names a folder with mysqld and mysql to use instead of the development cluster's.
const EnvBin = "KEELSON_MYSQL_BIN"

// Bin returns the folder with mysqld and mysql.
func Bin(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv(EnvBin); dir != "" { //nolint:forbidigo // a test is started by a person or by make, and has no flags of its own
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(cache, "keelson", "mysql", "*", "mysql-bin", "mysqld"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatalf("this test needs a real mysqld and found none: run `go run -C test/devcluster ./cmd/devcluster mysql-bin` once "+
			"(it makes one below %s), or name a folder with mysqld and mysql in %s", cache, EnvBin)
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return versionOf(t, a).Compare(versionOf(t, b)) }))
}

// versionOf reads the version from the folder's name, <cache>/keelson/mysql/<version>/mysql-bin/mysqld.
func versionOf(t *testing.T, path string) version.MySQL {
	t.Helper()
	v, err := version.ParseMySQL(filepath.Base(filepath.Dir(filepath.Dir(path))))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Version asks the mysqld at hand for its version.
func Version(t *testing.T) version.MySQL {
	t.Helper()
	out, err := Command(t.Context(), Bin(t), "--no-defaults", "--version").Output()
	if err != nil {
		t.Fatalf("ask mysqld for its version: %v", err)
	}
	v, err := version.ParseBanner(string(out))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Command returns a command that runs mysqld of the folder with its whole command line. Started by root, as in a
// container for CI, mysqld must be told that this is meant.
func Command(ctx context.Context, bin string, args ...string) *exec.Cmd {
	if os.Geteuid() == 0 {
		args = append(args, "--user=root")
	}
	return exec.CommandContext(ctx, filepath.Join(bin, "mysqld"), args...) //nolint:gosec // a test's own mysqld
}
