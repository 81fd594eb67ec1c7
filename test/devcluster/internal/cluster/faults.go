// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/layout"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/network"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/procid"
)

// target is a node that a command is about.
type target struct {
	cluster layout.Cluster
	record  record
	number  int
	name    string
	process procid.Record // of a living node
}

// find finds a node of the cluster by the name a person gives.
func (m *Manager) find(text string) (target, error) {
	c, err := m.Find()
	if err != nil {
		return target{}, err
	}
	r, err := loadRecord(c)
	if err != nil {
		return target{}, err
	}
	n, err := layout.ParseNode(text, r.Nodes)
	return target{cluster: c, record: r, number: n, name: layout.NodeName(n)}, err
}

func (m *Manager) findAlive(text string) (target, error) {
	t, err := m.find(text)
	if err != nil {
		return target{}, err
	}
	r, ok := running(t.cluster, t.name)
	if !ok {
		return target{}, fmt.Errorf("%s is dead: `devcluster kill-node --node %s --revive` starts it", t.name, t.name)
	}
	t.process = r
	return t, nil
}

// Partition cuts a node off from peers (none named: from everybody), in one direction or both.
func (m *Manager) Partition(ctx context.Context, node string, direction network.Direction, from []string) error {
	t, err := m.findAlive(node)
	if err != nil {
		return err
	}
	peers, err := network.Peers(t.cluster, from)
	if err != nil {
		return err
	}
	if err := network.Partition(ctx, t.process.PID, network.Cut{Direction: direction, Peers: peers}); err != nil {
		return err
	}
	m.sayf("%s is cut off (%s)", t.name, direction)
	return nil
}

// Heal ends the partition of a node.
func (m *Manager) Heal(ctx context.Context, node string) error {
	t, err := m.findAlive(node)
	if err != nil {
		return err
	}
	if err := network.Heal(ctx, t.process.PID); err != nil {
		return err
	}
	m.sayf("%s is reachable again", t.name)
	return nil
}

// KillNode is a power failure. The cable goes first, so that peers meet silence and not the closed connections that
// the kernel would still send.
func (m *Manager) KillNode(node string) error {
	unlock, err := m.lock()
	if err != nil {
		return err
	}
	defer unlock()
	t, err := m.findAlive(node)
	if err != nil {
		return err
	}
	if err := network.Unplug(t.cluster, t.name); err != nil {
		return err
	}
	if err := m.kill(t.cluster, t.name, t.process); err != nil {
		return err
	}
	m.sayf("%s is dead", t.name)
	return nil
}

// Revive starts a dead node again, as after a power failure: its disks are there, its processes are not.
func (m *Manager) Revive(node string) error {
	unlock, err := m.lock()
	if err != nil {
		return err
	}
	defer unlock()
	t, err := m.find(node)
	if err != nil {
		return err
	}
	if _, ok := running(t.cluster, t.name); ok {
		m.sayf("%s is alive", t.name)
		return nil
	}
	m.Programs.Self = t.cluster.Path("bin", "devcluster")
	if err := m.Cgroups.Remove(t.cluster.Cgroup(t.name), patience); err != nil {
		return err
	}
	return m.startNode(t.cluster, t.number, t.record.Timing)
}

// MachineStatus is one line of Status.
type MachineStatus struct {
	Name    string
	PID     int // 0: dead
	Ready   string
	Address string
	Cut     bool
}

// Status is what a cluster looks like now.
type Status struct {
	Name       string
	Kubeconfig string
	APIServer  string
	Registry   string
	Machines   []MachineStatus
}

// Status looks at the cluster. A control plane that does not answer is shown, not an error.
func (m *Manager) Status(ctx context.Context) (Status, error) {
	c, err := m.Find()
	if err != nil {
		return Status{}, err
	}
	r, err := loadRecord(c)
	if err != nil {
		return Status{}, err
	}
	s := Status{Name: c.Name, Kubeconfig: c.Kubeconfig(), APIServer: c.APIServer(), Registry: c.Registry()}
	ready := map[string]string{}
	if a, err := newAPI(c); err == nil {
		if _, err := a.get(ctx, "/readyz"); err == nil {
			ready[layout.Plane] = "True"
		}
		nodes, _ := listNodes(ctx, a) // Unknown is a value: no answer leaves "Unknown".
		for _, n := range nodes {
			ready[n.Metadata.Name] = n.ready()
		}
	}
	names := []string{layout.Plane}
	for n := 1; n <= r.Nodes; n++ {
		names = append(names, layout.NodeName(n))
	}
	for _, name := range names {
		s.Machines = append(s.Machines, machineStatus(ctx, c, name, ready[name]))
	}
	return s, nil
}

func machineStatus(ctx context.Context, c layout.Cluster, name, ready string) MachineStatus {
	line := MachineStatus{Name: name, Ready: ready, Address: c.Address(name).String()}
	if ready == "" {
		line.Ready = "Unknown"
	}
	if r, ok := running(c, name); ok {
		line.PID = r.PID
		line.Cut = network.IsCut(ctx, r.PID)
	}
	return line
}

// Process returns the first process of a living machine.
func (m *Manager) Process(machine string) (int, error) {
	c, err := m.Find()
	if err != nil {
		return 0, err
	}
	r, ok := running(c, machine)
	if !ok {
		return 0, fmt.Errorf("%w: no living machine %q", layout.ErrArgument, machine)
	}
	return r.PID, nil
}
