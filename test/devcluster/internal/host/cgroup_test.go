// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/host"
)

// v1 makes a folder that looks like cgroup v1; the kernel would make the files in new cgroups by itself.
func v1(t *testing.T) string {
	t.Helper()
	mount := t.TempDir()
	for _, dir := range []string{"memory", "cpuset", "cpuset/a", "cpuset/a/b"} {
		if err := os.MkdirAll(filepath.Join(mount, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range map[string]string{"cpuset/cpuset.cpus": "0-1", "cpuset/cpuset.mems": "0"} {
		if err := os.WriteFile(filepath.Join(mount, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"cpuset/a/cpuset.cpus", "cpuset/a/cpuset.mems", "cpuset/a/b/cpuset.cpus", "cpuset/a/b/cpuset.mems"} {
		if err := os.WriteFile(filepath.Join(mount, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return mount
}

// TestCreateFillsCpusets: a process cannot join a cpuset that has no processors, and runc says so in no words.
func TestCreateFillsCpusets(t *testing.T) {
	t.Parallel()
	mount := v1(t)
	g := host.Cgroups{Mount: mount}
	for range 2 { // A cgroup that exists is fine.
		if err := g.Create("/a/b"); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(mount, "cpuset/a/b/cpuset.cpus")); err != nil || string(text) != "0-1" {
		t.Errorf("cpuset.cpus = %q, %v; want 0-1", text, err)
	}
	if _, err := os.Stat(filepath.Join(mount, "memory/a/b")); err != nil {
		t.Errorf("no cgroup for memory: %v", err)
	}
}

func TestRemoveGoesDeepestFirst(t *testing.T) {
	t.Parallel()
	mount := t.TempDir()
	if err := os.MkdirAll(filepath.Join(mount, "memory/a/b/c"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(mount, "memory/other"), 0o755); err != nil {
		t.Fatal(err)
	}
	g := host.Cgroups{Mount: mount}
	for range 2 { // One that is gone is fine.
		if err := g.Remove("/a", time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(mount, "memory/a")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("cgroup is still there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(mount, "memory/other")); err != nil {
		t.Errorf("a stranger's cgroup went: %v", err)
	}
}
