// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/layout"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/registry"
)

const (
	// settleLimit is how long a cluster may take to become ready; it takes seconds unless something is wrong.
	settleLimit = 3 * time.Minute
	// look is how often a cluster that is starting is looked at.
	look = 200 * time.Millisecond
)

// settle waits until the started cluster is one: API server ready, add-ons applied, images loaded, every node Ready.
func (m *Manager) settle(ctx context.Context, c layout.Cluster, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	api, err := newAPI(c)
	if err != nil {
		return err
	}
	if err := m.load(ctx, c, o.Images); err != nil {
		return err
	}
	if err := wait(ctx, "the API server", func() error { _, err := api.get(ctx, "/readyz"); return err }); err != nil {
		return m.explain(c, err)
	}
	m.sayf("API server is ready: %s", c.APIServer())
	// Namespaces appear a moment after the API server is ready, and the add-ons go into one.
	if err := wait(ctx, "the add-ons", func() error { return m.applyAddons(ctx, c) }); err != nil {
		return m.explain(c, err)
	}
	if err := m.forgetNodes(ctx, c, api, o.Nodes); err != nil {
		return err
	}
	if err := wait(ctx, "the nodes", func() error { return nodesReady(ctx, api, o.Nodes) }); err != nil {
		return m.explain(c, err)
	}
	m.sayf("%d nodes are ready", o.Nodes)
	return nil
}

// forgetNodes removes the Node objects of nodes that the cluster had before it was stopped and started smaller: their
// pods would wait for them for ever.
func (m *Manager) forgetNodes(ctx context.Context, c layout.Cluster, a *api, keep int) error {
	nodes, err := listNodes(ctx, a)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if _, err := layout.ParseNode(n.Metadata.Name, keep); err == nil {
			continue
		}
		if _, err := m.kubectl(ctx, c, "", "delete", "node", n.Metadata.Name, "--wait=false"); err != nil {
			return err
		}
		m.sayf("%s is not part of the cluster any more", n.Metadata.Name)
	}
	return nil
}

func (m *Manager) explain(c layout.Cluster, err error) error {
	return fmt.Errorf("%w\nlogs: %s", err, c.Path("log"))
}

// wait repeats a check until it passes or ctx ends; the last reason is in the error.
func wait(ctx context.Context, what string, check func() error) error {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, errors.Join(ctx.Err(), err))
		case <-tick.C:
		}
	}
}

func (m *Manager) applyAddons(ctx context.Context, c layout.Cluster) error {
	text, err := renderAddons(c)
	if err != nil {
		return err
	}
	_, err = m.kubectl(ctx, c, text, "apply", "--server-side", "--force-conflicts", "-f", "-")
	return err
}

// kubectl runs the cluster's own kubectl with its own kubeconfig.
func (m *Manager) kubectl(ctx context.Context, c layout.Cluster, input string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(m.Programs.Bin, "kubectl"), append([]string{"--kubeconfig", c.Kubeconfig()}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("run kubectl %s: %w: %s", args[0], err, strings.TrimSpace(errs.String()))
	}
	return string(out), nil
}

// Load puts images into the registry of a running cluster.
func (m *Manager) Load(ctx context.Context, archives []string) error {
	c, err := m.Find()
	if err != nil {
		return err
	}
	if _, ok := running(c, layout.Plane); !ok {
		return ErrNotRunning
	}
	return m.load(ctx, c, archives)
}

func (m *Manager) load(ctx context.Context, c layout.Cluster, archives []string) error {
	up := func() error { return answers(ctx, "http://"+c.Registry()+"/v2/") }
	if err := wait(ctx, "the registry", up); err != nil {
		return m.explain(c, err)
	}
	store := registry.Store{Address: c.Registry(), Dir: c.Path("registry")}
	for _, archive := range archives {
		names, err := store.Load(ctx, archive)
		if err != nil {
			return err
		}
		m.sayf("loaded %s", strings.Join(names, ", "))
	}
	return nil
}

func answers(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	client := &http.Client{Timeout: time.Second}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
