// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"io"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/layout"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/procid"
)

func manager(t *testing.T, name string) *Manager {
	t.Helper()
	return &Manager{State: t.TempDir(), Name: name, Progress: io.Discard}
}

// TestSlots: a cluster keeps its addresses until it is purged; its certificates name them.
func TestSlots(t *testing.T) {
	t.Parallel()
	a := manager(t, "a")
	if _, err := a.Find(); !errors.Is(err, ErrNotRunning) {
		t.Errorf("Find() of a cluster that never was = %v, want ErrNotRunning", err)
	}
	first, err := a.claim()
	if err != nil {
		t.Fatal(err)
	}
	b := &Manager{State: a.State, Name: "b", Progress: io.Discard}
	second, err := b.claim()
	if err != nil {
		t.Fatal(err)
	}
	again, err := a.claim()
	if err != nil {
		t.Fatal(err)
	}
	if first.Slot == second.Slot || again != first {
		t.Errorf("slots: a %d, b %d, a again %d", first.Slot, second.Slot, again.Slot)
	}
	if err := a.release(); err != nil {
		t.Fatal(err)
	}
	names, err := b.Names()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b"}, names); diff != "" {
		t.Errorf("Names() mismatch (-want +got):\n%s", diff)
	}
}

// TestMachinesOfAnotherBootDoNotRun: records outlive a restart of the host, the processes do not.
func TestMachinesOfAnotherBootDoNotRun(t *testing.T) {
	t.Parallel()
	c := layout.Cluster{Name: "a", State: t.TempDir()}
	if err := os.Mkdir(c.Path("machines"), 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := procid.Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Save(pidFile(c, "node1")); err != nil {
		t.Fatal(err)
	}
	self.Boot = "another"
	if err := self.Save(pidFile(c, "node2")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"node1", "node2"}, machines(c)); diff != "" {
		t.Errorf("machines() mismatch (-want +got):\n%s", diff)
	}
	if _, ok := running(c, "node1"); !ok {
		t.Error("node1 does not run, but its process lives")
	}
	if _, ok := running(c, "node2"); ok {
		t.Error("node2 runs, but its process belongs to another boot")
	}
}
