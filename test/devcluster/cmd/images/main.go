// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/spf13/cobra"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/bake"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/checkout"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/imagenames"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/mysqlroot"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/registry"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := &cobra.Command{Use: "images", Short: "Make container images without Docker", SilenceUsage: true, SilenceErrors: true}
	cmd.AddCommand(operatorCommand(), mysqlCommand(), pauseCommand(), pushCommand())
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

func operatorCommand() *cobra.Command {
	var o bake.Operator
	var out string
	cmd := &cobra.Command{
		Use:   "operator",
		Short: "Write the operator's image and print its digest",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := repository()
			if err != nil {
				return err
			}
			o.Root = root
			o.LDFlags = "-X main.version=" + o.Version
			if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
				return fmt.Errorf("create folder: %w", err)
			}
			digest, err := o.Write(cmd.Context(), out)
			if err != nil {
				return err
			}
			fmt.Println(o.Name, digest, out)
			return nil
		},
	}
	cmd.Flags().StringVar(&o.Name, "image", "", "full name of the image, with its tag")
	cmd.Flags().StringVar(&o.Version, "version", "", "version that the binary and the labels carry")
	cmd.Flags().StringSliceVar(&o.Arches, "arch", []string{"amd64", "arm64"}, "architectures")
	cmd.Flags().StringVar(&out, "out", "", "archive to write")
	for _, flag := range []string{"image", "version", "out"} {
		_ = cmd.MarkFlagRequired(flag)
	}
	return cmd
}

func mysqlCommand() *cobra.Command {
	return cached("mysql", "Write the MySQL test image, made from Debian's packages", func(ctx context.Context, k bake.Kitchen) (string, error) {
		tree, err := mysqlroot.Source{Cache: k.Cache, AptSources: "/etc/apt", Progress: os.Stderr}.Ensure(ctx)
		if err != nil {
			return "", err
		}
		return k.MySQL(tree)
	})
}

func pauseCommand() *cobra.Command {
	return cached("pause", "Write the image that holds the namespaces of each pod", func(ctx context.Context, k bake.Kitchen) (string, error) {
		return k.Pause(ctx)
	})
}

// cached makes a command for an image that is kept in the cache; --out copies it.
func cached(use, short string, bakeIt func(context.Context, bake.Kitchen) (string, error)) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			kitchen, err := kitchen()
			if err != nil {
				return err
			}
			path, err := bakeIt(cmd.Context(), kitchen)
			if err != nil {
				return err
			}
			if out != "" {
				if err := copyFile(path, out); err != nil {
					return fmt.Errorf("copy archive: %w", err)
				}
				path = out
			}
			fmt.Println(path)
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "archive to write; without it the cache's own is named")
	return cmd
}

func pushCommand() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "push IMAGE.tar",
		Short: "Push the image of an OCI archive to a registry, with the credentials that Docker and podman keep",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := registry.Push(cmd.Context(), args[0], to, authn.DefaultKeychain)
			if err != nil {
				return err
			}
			fmt.Println(name)
			return nil
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "full name to push it as (default: its own)")
	return cmd
}

func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find working folder: %w", err)
	}
	return checkout.Root(dir)
}

func kitchen() (bake.Kitchen, error) {
	root, err := repository()
	if err != nil {
		return bake.Kitchen{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return bake.Kitchen{}, fmt.Errorf("find home folder: %w", err)
	}
	names, err := imagenames.Read(root, map[string]string{"MYSQL_IMAGE": os.Getenv("MYSQL_IMAGE"), "PAUSE_IMAGE": os.Getenv("PAUSE_IMAGE")})
	if err != nil {
		return bake.Kitchen{}, err
	}
	return bake.Kitchen{Root: root, Cache: checkout.Cache(os.Getenv("XDG_CACHE_HOME"), home), Names: names, Progress: os.Stderr}, nil
}

func copyFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
