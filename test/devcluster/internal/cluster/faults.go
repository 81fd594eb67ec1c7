// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/layout"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/network"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/procid"
)

// target finds a node of the running cluster by the name a person gives.
func (m *Manager) target(text string) (layout.Cluster, record, int, error) {
	c, err := m.Find()
	if err != nil {
		return layout.Cluster{}, record{}, 0, err
	}
	r, err := loadRecord(c)
	if err != nil {
		return layout.Cluster{}, record{}, 0, err
	}
	n, err := layout.ParseNode(text, r.Nodes)
	return c, r, n, err
}

func (m *Manager) liveNode(text string) (layout.Cluster, procid.Record, string, error) {
	c, _, n, err := m.target(text)
	if err != nil {
		return layout.Cluster{}, procid.Record{}, "", err
	}
	name := layout.NodeName(n)
	r, ok := running(c, name)
	if !ok {
		return layout.Cluster{}, procid.Record{}, "", fmt.Errorf("%s is dead: `devcluster kill-node --node %s --revive` starts it", name, name)
	}
	return c, r, name, nil
}

// Partition cuts a node off from peers (none named: from everybody), in one direction or both.
func (m *Manager) Partition(ctx context.Context, node string, direction network.Direction, from []string) error {
	c, r, name, err := m.liveNode(node)
	if err != nil {
		return err
	}
	peers, err := network.Peers(c, from)
	if err != nil {
		return err
	}
	if err := network.Partition(ctx, r.PID, network.Cut{Direction: direction, Peers: peers}); err != nil {
		return err
	}
	m.say("%s is cut off (%s)", name, direction)
	return nil
}

// Heal ends the partition of a node.
func (m *Manager) Heal(ctx context.Context, node string) error {
	_, r, name, err := m.liveNode(node)
	if err != nil {
		return err
	}
	if err := network.Heal(ctx, r.PID); err != nil {
		return err
	}
	m.say("%s is reachable again", name)
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
	c, r, name, err := m.liveNode(node)
	if err != nil {
		return err
	}
	if err := network.SetCable(c, name, false); err != nil {
		return err
	}
	if err := m.kill(c, name, r); err != nil {
		return err
	}
	m.say("%s is dead", name)
	return nil
}

// Revive starts a dead node again, as after a power failure: its disks are there, its processes are not.
func (m *Manager) Revive(node string) error {
	unlock, err := m.lock()
	if err != nil {
		return err
	}
	defer unlock()
	c, rec, n, err := m.target(node)
	if err != nil {
		return err
	}
	if _, ok := running(c, layout.NodeName(n)); ok {
		m.say("%s is alive", layout.NodeName(n))
		return nil
	}
	m.Programs.Self = c.Path("bin", "devcluster")
	if err := m.Cgroups.Remove(c.Cgroup(layout.NodeName(n)), patience); err != nil {
		return err
	}
	return m.startNode(c, n, rec.Timing)
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
