// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"text/template"
	"time"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/components"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/host"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/layout"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/network"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/nodeinit"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/pki"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/procid"
)

//go:embed manifests
var manifests embed.FS

// Options are what a person chooses about a cluster.
type Options struct {
	Nodes  int
	Timing components.Timing
	Images []string // archives to load once the registry answers
}

// Up makes the cluster what the options say: it starts what does not run and leaves alone what does.
func (m *Manager) Up(ctx context.Context, o Options) error {
	if err := errors.Join(layout.CheckName(m.Name), layout.CheckNodes(o.Nodes)); err != nil {
		return err
	}
	if err := host.Check(m.Cgroups); err != nil {
		return err
	}
	unlock, err := m.lock()
	if err != nil {
		return err
	}
	defer unlock()
	c, err := m.claim()
	if err != nil {
		return err
	}
	if err := m.prepare(c, o); err != nil {
		return err
	}
	if err := m.start(c, o); err != nil {
		return err
	}
	return m.settle(ctx, c, o)
}

// prepare writes everything that the machines read when they start.
func (m *Manager) prepare(c layout.Cluster, o Options) error {
	if old, err := loadRecord(c); err == nil && old.Nodes > o.Nodes && m.anyRunning(c) {
		return fmt.Errorf("%w (it has %d nodes)", ErrFewerNodes, old.Nodes)
	}
	for _, dir := range []string{"machines", "registry", "volumes", "bin", "log"} {
		if err := os.MkdirAll(c.Path(dir), 0o755); err != nil {
			return fmt.Errorf("create folder of cluster: %w", err)
		}
	}
	if err := writeJSON(c.Path("cluster.json"), record{Nodes: o.Nodes, Timing: o.Timing}); err != nil {
		return err
	}
	if err := m.copySelf(c); err != nil {
		return err
	}
	if err := host.Borrow(m.borrowed()); err != nil {
		return err
	}
	return m.identities(c)
}

// copySelf keeps this program where the machines find it for as long as they live: `go run` deletes its own.
func (m *Manager) copySelf(c layout.Cluster) error {
	text, err := os.ReadFile(m.Programs.Self)
	if err != nil {
		return fmt.Errorf("read own program: %w", err)
	}
	path := c.Path("bin", "devcluster")
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		m.Programs.Self = path
		return nil
	}
	if err := os.WriteFile(path+".new", text, 0o755); err != nil {
		return fmt.Errorf("copy own program: %w", err)
	}
	m.Programs.Self = path
	return os.Rename(path+".new", path)
}

func (m *Manager) identities(c layout.Cluster) error {
	authority, err := pki.Open(c.Path("pki"), time.Now())
	if err != nil {
		return err
	}
	if err := authority.SigningKey("sa"); err != nil {
		return err
	}
	for _, id := range components.Identities(c) {
		if err := authority.Issue(id); err != nil {
			return err
		}
	}
	clients := components.WithKubeconfig()
	for n := 1; n <= layout.MaxNodes; n++ {
		clients = append(clients, components.Kubelet(n))
	}
	for _, client := range clients {
		if err := authority.Kubeconfig(components.Kubeconfig(c, client), client.File, "keelson-"+c.Name, c.APIServer()); err != nil {
			return err
		}
	}
	return authority.Kubeconfig(c.Kubeconfig(), components.Admin.File, "keelson-"+c.Name, c.APIServer())
}

// start starts the machines that do not run.
func (m *Manager) start(c layout.Cluster, o Options) error {
	if err := network.EnsureBridge(c); err != nil {
		return err
	}
	if err := writeFiles(components.PlaneFiles(c)); err != nil {
		return err
	}
	if err := m.startMachine(c, layout.Plane, components.Plane(c, m.Programs, o.Timing)); err != nil {
		return err
	}
	for n := 1; n <= o.Nodes; n++ {
		if err := m.startNode(c, n, o.Timing); err != nil {
			return err
		}
	}
	return nil
}

func (m *Manager) startNode(c layout.Cluster, n int, t components.Timing) error {
	name := layout.NodeName(n)
	if err := m.Cgroups.Create(c.Cgroup(name)); err != nil {
		return err
	}
	for _, dir := range []string{"kubelet", "pods", "containers", "containerd"} {
		if err := os.MkdirAll(c.Path(name, dir), 0o755); err != nil {
			return fmt.Errorf("create folder of node: %w", err)
		}
	}
	if err := writeFiles(components.NodeFiles(c, m.Programs, n, t)); err != nil {
		return err
	}
	return m.startMachine(c, name, components.Node(c, m.Programs, n))
}

// startMachine starts one machine unless it runs. The record is written before the machine is let go: whenever this
// command dies, either there is a record or there is no machine.
func (m *Manager) startMachine(c layout.Cluster, machine string, config nodeinit.Config) error {
	if _, ok := running(c, machine); ok {
		return nil
	}
	configFile := c.Path("machines", machine+".json")
	if err := config.Save(configFile); err != nil {
		return err
	}
	pending, err := nodeinit.Start(m.Programs.Self, configFile, c.Path("log", machine+".log"))
	if err != nil {
		return fmt.Errorf("start %s: %w", machine, err)
	}
	if err := register(c, machine, pending.PID); err != nil {
		pending.Abandon()
		return fmt.Errorf("start %s: %w", machine, err)
	}
	if err := pending.Go(); err != nil {
		return fmt.Errorf("start %s: %w", machine, err)
	}
	m.sayf("started %s", machine)
	return nil
}

func register(c layout.Cluster, machine string, pid int) error {
	r, err := procid.Of(pid)
	if err != nil {
		return err
	}
	if err := r.Save(pidFile(c, machine)); err != nil {
		return err
	}
	return network.Attach(c, machine, pid)
}

func (m *Manager) anyRunning(c layout.Cluster) bool {
	for _, machine := range machines(c) {
		if _, ok := running(c, machine); ok {
			return true
		}
	}
	return false
}

// renderAddons fills in the manifests of the add-ons.
func renderAddons(c layout.Cluster) (string, error) {
	text, err := fs.ReadFile(manifests, "manifests/addons.yaml")
	if err != nil {
		return "", fmt.Errorf("read manifests: %w", err)
	}
	ca, err := os.ReadFile(c.Path("pki", "ca.crt"))
	if err != nil {
		return "", fmt.Errorf("read certificate authority: %w", err)
	}
	t, err := template.New("addons").Option("missingkey=error").Parse(string(text))
	if err != nil {
		return "", fmt.Errorf("parse manifests: %w", err)
	}
	var out bytes.Buffer
	err = t.Execute(&out, map[string]string{
		"DNS": c.DNSService().String(), "Plane": c.PlaneAddress().String(),
		"CA": base64.StdEncoding.EncodeToString(ca), "CSI": components.CSIName,
	})
	if err != nil {
		return "", fmt.Errorf("fill in manifests: %w", err)
	}
	return out.String(), nil
}

func writeFiles(files map[string]string) error {
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("create folder: %w", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return fmt.Errorf("write configuration: %w", err)
		}
	}
	return nil
}
