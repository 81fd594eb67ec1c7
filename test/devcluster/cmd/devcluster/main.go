// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/assets"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/checkout"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/cluster"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/components"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/host"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/imagenames"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := root().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "devcluster:", err)
		os.Exit(1)
	}
}

// global are the flags of every command.
type global struct {
	name  string
	state string
}

func root() *cobra.Command {
	g := &global{}
	cmd := &cobra.Command{
		Use:           "devcluster",
		Short:         "A real Kubernetes on one Debian machine, without Docker",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.PersistentFlags().StringVar(&g.name, "name", "dev", "name of the cluster; clusters of different names run side by side")
	cmd.PersistentFlags().StringVar(&g.state, "state", cluster.DefaultState, "folder with the data of all clusters")
	cmd.AddCommand(
		assetsCommand(), packagesCommand(), mysqlRootCommand(), mysqlBinCommand(),
		upCommand(g), downCommand(g), reapCommand(g), statusCommand(g), kubeconfigCommand(g), loadCommand(g),
		partitionCommand(g), killNodeCommand(g), shellCommand(g), volumeCommand(g),
		initCommand(), registryCommand(), csiControllerCommand(), csiNodeCommand(),
	)
	return cmd
}

// where is what nearly every command needs to know about its surroundings.
type where struct {
	root  string // of the checkout
	cache string
	names imagenames.Names
}

func surroundings() (where, error) {
	dir, err := os.Getwd()
	if err != nil {
		return where{}, fmt.Errorf("find working folder: %w", err)
	}
	top, err := checkout.Root(dir)
	if err != nil {
		return where{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return where{}, fmt.Errorf("find home folder: %w", err)
	}
	names, err := imagenames.Read(top, map[string]string{"MYSQL_IMAGE": os.Getenv("MYSQL_IMAGE"), "PAUSE_IMAGE": os.Getenv("PAUSE_IMAGE")})
	if err != nil {
		return where{}, err
	}
	return where{root: top, cache: checkout.Cache(os.Getenv("XDG_CACHE_HOME"), home), names: names}, nil
}

// manager returns what changes a cluster, with the programs built.
func (g *global) manager(ctx context.Context) (*cluster.Manager, where, error) {
	w, err := surroundings()
	if err != nil {
		return nil, where{}, err
	}
	bin, err := assets.Builder{Root: w.root, Cache: w.cache, Progress: os.Stderr}.All(ctx)
	if err != nil {
		return nil, where{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, where{}, fmt.Errorf("find own program: %w", err)
	}
	m := g.bare()
	m.Programs = components.Programs{Bin: bin, Self: self, Pause: w.names.Pause}
	return m, w, nil
}

// bare returns what stops a cluster: it needs no checkout and builds nothing.
func (g *global) bare() *cluster.Manager {
	return &cluster.Manager{
		State: filepath.Clean(g.state), Name: g.name, Cgroups: host.Cgroups{Mount: "/sys/fs/cgroup"}, Progress: os.Stderr,
	}
}
