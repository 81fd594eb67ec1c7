// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/components"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/csi"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/nodeinit"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/registry"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/volume"
)

// The commands below are run by machines of the cluster, not by people.

func initCommand() *cobra.Command {
	return &cobra.Command{
		Use: "init CONFIG", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return nodeinit.Run(args[0]) },
	}
}

func registryCommand() *cobra.Command {
	var dir, listen string
	cmd := &cobra.Command{
		Use: "registry", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serveRegistry(cmd.Context(), dir, listen) },
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder with blobs and manifests")
	cmd.Flags().StringVar(&listen, "listen", "", "address")
	return cmd
}

func serveRegistry(ctx context.Context, dir, listen string) error {
	handler, err := registry.Handler(dir)
	if err != nil {
		return err
	}
	server := &http.Server{Addr: listen, Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve registry: %w", err)
	}
	return nil
}

func csiControllerCommand() *cobra.Command {
	var volumes, socket string
	cmd := &cobra.Command{
		Use: "csi-controller", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return csi.ServeController(cmd.Context(), components.CSIName, socket, volume.Store{Dir: volumes})
		},
	}
	cmd.Flags().StringVar(&volumes, "volumes", "", "folder with all volumes")
	cmd.Flags().StringVar(&socket, "socket", "", "socket to answer on")
	return cmd
}

func csiNodeCommand() *cobra.Command {
	var volumes, node, kubelet string
	cmd := &cobra.Command{
		Use: "csi-node", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return csi.ServeNode(cmd.Context(), components.CSIName, node, kubelet, volume.Store{Dir: volumes})
		},
	}
	cmd.Flags().StringVar(&volumes, "volumes", "", "folder with all volumes")
	cmd.Flags().StringVar(&node, "node", "", "name of the node")
	cmd.Flags().StringVar(&kubelet, "kubelet", "", "root folder of the kubelet")
	return cmd
}
