// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/bake"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/cluster"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/host"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/layout"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/mysqlroot"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/packages"
)

func upCommand(g *global) *cobra.Command {
	var o cluster.Options
	var mysql bool
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start the cluster, or what is missing of it, and wait until every node is Ready",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(layout.CheckName(g.name), layout.CheckNodes(o.Nodes)); err != nil {
				return err
			}
			return up(cmd.Context(), g, o, mysql)
		},
	}
	cmd.Flags().IntVar(&o.Nodes, "nodes", 3, "number of nodes, 1 to 7")
	cmd.Flags().BoolVar(&o.Timing.Fast, "fast", false, "notice a dead node in 10 s (default 50) and a claim's new size in 10 s (default 90)")
	cmd.Flags().BoolVar(&mysql, "mysql", true, "serve the MySQL test image")
	return cmd
}

func up(ctx context.Context, g *global, o cluster.Options, withMySQL bool) error {
	here, err := surroundings()
	if err != nil {
		return err
	}
	if err := packages.Ensure(ctx, here.root, os.Stderr); err != nil && !errors.Is(err, packages.ErrNotDebian) {
		return err
	}
	if err := host.Check(g.bare().Cgroups); err != nil {
		return err // Before anything is built: nobody waits twenty minutes to hear this.
	}
	m, w, err := g.manager(ctx)
	if err != nil {
		return err
	}
	if o.Images, err = images(ctx, w, withMySQL); err != nil {
		return err
	}
	if err := m.Up(ctx, o); err != nil {
		return err
	}
	c, err := m.Find()
	if err != nil {
		return err
	}
	fmt.Printf("export KUBECONFIG=%s PATH=%s:$PATH\n", c.Kubeconfig(), m.Programs.Bin)
	return nil
}

// images are the archives that every cluster serves.
func images(ctx context.Context, w where, withMySQL bool) ([]string, error) { //nolint:revive // The flag of a person's command.
	kitchen := bake.Kitchen{Root: w.root, Cache: w.cache, Names: w.names, Progress: os.Stderr}
	pause, err := kitchen.Pause(ctx)
	if err != nil || !withMySQL {
		return []string{pause}, err
	}
	tree, err := mysqlroot.Source{Cache: w.cache, AptSources: "/etc/apt", Progress: os.Stderr}.Ensure(ctx)
	if err != nil {
		return nil, err
	}
	mysql, err := kitchen.MySQL(tree)
	return []string{pause, mysql}, err
}

func downCommand(g *global) *cobra.Command {
	var purge bool
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop the cluster and leave nothing on the machine but its data (--purge: not even that)",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if purge {
				return g.bare().Purge(cmd.Context())
			}
			return g.bare().Down(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&purge, "purge", false, "remove the cluster's data too")
	return cmd
}

func reapCommand(g *global) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "reap",
		Short: "Stop whatever an earlier, killed run left behind; data stays",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			names := []string{g.name}
			if all {
				var err error
				if names, err = g.bare().Names(); err != nil {
					return err
				}
			}
			for _, name := range names {
				one := global{name: name, state: g.state}
				if err := one.bare().Down(cmd.Context()); err != nil {
					return fmt.Errorf("reap cluster %s: %w", name, err)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "clusters of every name")
	return cmd
}

func kubeconfigCommand(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print the path of the cluster's kubeconfig",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := g.bare().Find()
			if err != nil {
				return err
			}
			fmt.Println(c.Kubeconfig())
			return nil
		},
	}
}

func loadCommand(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "load IMAGE.tar…",
		Short: "Put OCI archives into the cluster's registry, where nodes find them under their own names",
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(cmd *cobra.Command, archives []string) error { return g.bare().Load(cmd.Context(), archives) },
	}
}

func statusCommand(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the machines of the cluster",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := g.bare().Status(cmd.Context())
			if err != nil {
				return err
			}
			fmt.Printf("cluster %s\nkubeconfig %s\nAPI server %s\nregistry %s\n\n", s.Name, s.Kubeconfig, s.APIServer, s.Registry)
			table := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
			_, _ = fmt.Fprintln(table, "MACHINE\tPROCESS\tREADY\tADDRESS\tNETWORK")
			for _, m := range s.Machines {
				pid, network := "dead", "whole"
				if m.PID != 0 {
					pid = strconv.Itoa(m.PID)
				}
				if m.Cut {
					network = "cut"
				}
				_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", m.Name, pid, m.Ready, m.Address, network)
			}
			return table.Flush()
		},
	}
}

func shellCommand(g *global) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "shell MACHINE [COMMAND…]",
		Short: "Run a command inside node1 … node7 or plane, as if logged in there",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			pid, err := g.bare().Process(args[0])
			if err != nil {
				return err
			}
			enter, err := exec.LookPath("nsenter")
			if err != nil {
				return fmt.Errorf("find nsenter: %w", err)
			}
			line := []string{"nsenter", "--target", strconv.Itoa(pid), "--mount", "--net", "--pid", "--uts", "--ipc"}
			if len(args) == 1 {
				args = append(args, "/bin/bash")
			}
			return syscall.Exec(enter, append(line, args[1:]...), os.Environ())
		},
	}
	cmd.Flags().SetInterspersed(false) // What follows the machine belongs to the command.
	return cmd
}
