// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/assets"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/mysqlroot"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/packages"
)

func assetsCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "assets",
		Short: "Build what is missing and print the folder with kube-apiserver, etcd and kubectl (KUBEBUILDER_ASSETS)",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := surroundings()
			if err != nil {
				return err
			}
			builder := assets.Builder{Root: w.root, Cache: w.cache, Progress: os.Stderr}
			build := builder.Envtest
			if all {
				build = builder.All
			}
			dir, err := build(cmd.Context())
			if err != nil {
				return err
			}
			fmt.Println(dir)
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "build every program of the cluster, not only envtest's")
	return cmd
}

func packagesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "packages",
		Short: "Install the Debian packages of " + packages.List + " that are missing (root only)",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := surroundings()
			if err != nil {
				return err
			}
			return packages.Ensure(cmd.Context(), w.root, os.Stderr)
		},
	}
}

func mysqlRootCommand() *cobra.Command {
	return mysqlCommand("mysql-root", "Make the MySQL tree if it is missing and print its folder", func(t mysqlroot.Tree) string { return t.Root })
}

func mysqlBinCommand() *cobra.Command {
	return mysqlCommand("mysql-bin", "Print the folder with mysqld, mysql, mysqldump and mysqlbinlog that run on this host", func(t mysqlroot.Tree) string { return t.Bin })
}

func mysqlCommand(use, short string, pick func(mysqlroot.Tree) string) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := surroundings()
			if err != nil {
				return err
			}
			source := mysqlroot.Source{Cache: w.cache, AptSources: "/etc/apt", Progress: os.Stderr}
			tree, err := source.Ensure(cmd.Context())
			if err != nil {
				return err
			}
			fmt.Println(pick(tree))
			return nil
		},
	}
}
