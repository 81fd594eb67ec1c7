// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/components"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/filelock"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/host"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/layout"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/network"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/procid"
)

// DefaultState is the folder with all clusters.
const DefaultState = "/var/lib/keelson-devcluster"

// Errors that a caller may tell apart.
var (
	ErrNotRunning = errors.New("cluster is not running: `devcluster up` starts it")
	ErrNoSlot     = errors.New("no addresses left: all ranges are used by other clusters or by the host's own routes")
	ErrFewerNodes = errors.New("a running cluster does not shrink: `devcluster down` first")
)

// Manager does everything to one cluster.
type Manager struct {
	State    string // folder with all clusters
	Name     string
	Cgroups  host.Cgroups
	Programs components.Programs // not needed to stop or break a cluster
	Progress io.Writer
}

// record is what is known about a cluster between two commands.
type record struct {
	Nodes  int               `json:"nodes"`
	Timing components.Timing `json:"timing"`
}

func (m *Manager) sayf(format string, args ...any) {
	_, _ = fmt.Fprintf(m.Progress, format+"\n", args...)
}

// lock keeps two commands from changing clusters at the same time; the kernel releases it when the command dies.
func (m *Manager) lock() (func(), error) {
	if err := os.MkdirAll(m.State, 0o755); err != nil {
		return nil, fmt.Errorf("create state folder: %w", err)
	}
	return filelock.Take(filepath.Join(m.State, ".lock"))
}

func (m *Manager) borrowed() string { return filepath.Join(m.State, "machine.json") }

func (m *Manager) slotsFile() string { return filepath.Join(m.State, "slots.json") }

func (m *Manager) slots() (map[string]int, error) {
	slots := map[string]int{}
	text, err := os.ReadFile(m.slotsFile())
	if errors.Is(err, fs.ErrNotExist) {
		return slots, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read slots: %w", err)
	}
	if err := json.Unmarshal(text, &slots); err != nil {
		return nil, fmt.Errorf("parse slots: %w", err)
	}
	return slots, nil
}

// Find returns the place of an existing cluster.
func (m *Manager) Find() (layout.Cluster, error) {
	slots, err := m.slots()
	if err != nil {
		return layout.Cluster{}, err
	}
	slot, ok := slots[m.Name]
	if !ok {
		return layout.Cluster{}, ErrNotRunning
	}
	return m.place(slot), nil
}

func (m *Manager) place(slot int) layout.Cluster {
	return layout.Cluster{Name: m.Name, Slot: slot, State: filepath.Join(m.State, m.Name)}
}

// claim returns the place of the cluster and takes one when it has none. A cluster keeps its slot until it is purged:
// its certificates name its addresses.
func (m *Manager) claim() (layout.Cluster, error) {
	slots, err := m.slots()
	if err != nil {
		return layout.Cluster{}, err
	}
	if slot, ok := slots[m.Name]; ok {
		return m.place(slot), nil
	}
	for slot := range layout.Slots {
		c := m.place(slot)
		taken, err := network.Taken(c)
		if err != nil {
			return layout.Cluster{}, err
		}
		if !taken && !slices.Contains(values(slots), slot) {
			slots[m.Name] = slot
			return c, writeJSON(m.slotsFile(), slots)
		}
	}
	return layout.Cluster{}, ErrNoSlot
}

func values(slots map[string]int) []int {
	var all []int
	for _, slot := range slots {
		all = append(all, slot)
	}
	return all
}

func (m *Manager) release() error {
	slots, err := m.slots()
	if err != nil {
		return err
	}
	delete(slots, m.Name)
	if len(slots) == 0 {
		if err := os.Remove(m.slotsFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove slots: %w", err)
		}
		return nil
	}
	return writeJSON(m.slotsFile(), slots)
}

func loadRecord(c layout.Cluster) (record, error) {
	text, err := os.ReadFile(c.Path("cluster.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, ErrNotRunning
	}
	if err != nil {
		return record{}, fmt.Errorf("read cluster: %w", err)
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return record{}, fmt.Errorf("parse cluster: %w", err)
	}
	return r, nil
}

func pidFile(c layout.Cluster, machine string) string { return c.Path("machines", machine+".pid") }

// running returns the record of a machine's first process if that process lives.
func running(c layout.Cluster, machine string) (procid.Record, bool) {
	r, err := procid.Load(pidFile(c, machine))
	return r, err == nil && r.Alive()
}

// machines are the machines that have a record, alive or not, nodes first.
func machines(c layout.Cluster) []string {
	files, _ := filepath.Glob(c.Path("machines", "*.pid"))
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".pid"))
	}
	return names
}

func writeJSON(path string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}
