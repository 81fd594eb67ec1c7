// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/checkout"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := root().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "devcluster:", err)
		os.Exit(1)
	}
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "devcluster",
		Short:         "A real Kubernetes on one Debian machine, without Docker",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.AddCommand(assetsCommand(), packagesCommand(), mysqlRootCommand(), mysqlBinCommand())
	return cmd
}

// where is what nearly every command needs to know about its surroundings.
type where struct {
	root  string // of the checkout
	cache string
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
	return where{root: top, cache: checkout.Cache(os.Getenv("XDG_CACHE_HOME"), home)}, nil
}
