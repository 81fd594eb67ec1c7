// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/host"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/layout"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/network"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/procid"
)

// patience is how long the kernel may take to take apart what was killed.
const patience = 20 * time.Second

// Down stops the cluster and takes everything off the machine but its data.
func (m *Manager) Down(ctx context.Context) error {
	return m.down(ctx, func(layout.Cluster) error { return nil })
}

// Purge does what Down does and removes the data too.
func (m *Manager) Purge(ctx context.Context) error {
	return m.down(ctx, func(c layout.Cluster) error {
		if err := os.RemoveAll(c.State); err != nil {
			return fmt.Errorf("remove data: %w", err)
		}
		return m.release()
	})
}

func (m *Manager) down(ctx context.Context, then func(layout.Cluster) error) error {
	unlock, err := m.lock()
	if err != nil {
		return err
	}
	defer unlock()
	c, err := m.Find()
	if errors.Is(err, ErrNotRunning) {
		m.sayf("cluster %s does not exist", m.Name)
		return m.leave()
	}
	if err != nil {
		return err
	}
	if err := m.stop(ctx, c); err != nil {
		return err
	}
	if err := then(c); err != nil {
		return err
	}
	return m.leave()
}

// stop ends every machine, nodes first: a kubelet that loses its API server would only log about it.
func (m *Manager) stop(ctx context.Context, c layout.Cluster) error {
	names := machines(c)
	slices.SortFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	for _, machine := range names {
		if machine == layout.Plane {
			markDown(ctx, c)
		}
		if err := m.end(c, machine); err != nil {
			return err
		}
	}
	return errors.Join(
		network.Remove(c),
		host.ReleaseLoops(ctx, c.Volumes(), patience),
		m.Cgroups.Remove(c.CgroupParent(), patience),
	)
}

func rank(machine string) int {
	if machine == layout.Plane {
		return 1
	}
	return 0
}

// end stops a machine for good and forgets it. The control plane is asked first, so that etcd closes its files.
func (m *Manager) end(c layout.Cluster, machine string) error {
	if r, ok := running(c, machine); ok {
		if err := askToEnd(machine, r); err != nil {
			return err
		}
		if err := m.kill(c, machine, r); err != nil {
			return err
		}
		m.sayf("stopped %s", machine)
	}
	if err := os.Remove(pidFile(c, machine)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget %s: %w", machine, err)
	}
	return nil
}

func askToEnd(machine string, r procid.Record) error {
	if machine != layout.Plane {
		return nil
	}
	if err := r.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, procid.ErrGone) {
		return err
	}
	awaitEnd(r, patience/2)
	return nil
}

// kill ends a machine at once. Frozen volumes are thawed first: a process that waits for one cannot be killed, and a
// file system that nobody can reach any more would stay frozen for ever.
func (m *Manager) kill(c layout.Cluster, machine string, r procid.Record) error {
	frozen := openFrozen(c, r.PID)
	defer frozen.close()
	if err := r.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, procid.ErrGone) {
		return fmt.Errorf("kill %s: %w", machine, err)
	}
	frozen.thaw()
	if !awaitEnd(r, patience) {
		return fmt.Errorf("kill %s: process %d does not end", machine, r.PID)
	}
	return nil
}

func awaitEnd(r procid.Record, limit time.Duration) bool {
	deadline := time.Now().Add(limit)
	tick := time.NewTicker(look / 10)
	defer tick.Stop()
	for r.Alive() {
		if time.Now().After(deadline) {
			return false
		}
		<-tick.C
	}
	return true
}

// leave gives the machine back when no cluster runs any more, and removes the state folder when it is empty.
func (m *Manager) leave() error {
	slots, err := m.slots()
	if err != nil {
		return err
	}
	for name, slot := range slots {
		other := Manager{State: m.State, Name: name}
		if other.anyRunning(other.place(slot)) {
			return nil
		}
	}
	if err := host.GiveBack(m.borrowed()); err != nil {
		return err
	}
	if len(slots) == 0 {
		_ = os.Remove(filepath.Join(m.State, ".lock"))
		_ = os.Remove(m.State) // Not empty: another user of the folder.
	}
	return nil
}

// Names are the names of all clusters that exist, running or not.
func (m *Manager) Names() ([]string, error) {
	slots, err := m.slots()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(slots)), nil
}
