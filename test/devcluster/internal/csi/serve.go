// SPDX-License-Identifier: Apache-2.0

package csi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/volume"
)

// ServeController answers the provisioner and the resizer until ctx ends.
func ServeController(ctx context.Context, name, socket string, store volume.Store) error {
	return serve(ctx, socket, func(s *grpc.Server) {
		csi.RegisterIdentityServer(s, &Identity{Name: name})
		csi.RegisterControllerServer(s, &Controller{Store: store})
	})
}

// ServeNode answers the kubelet until ctx ends, after making itself known to it.
func ServeNode(ctx context.Context, name, node, kubelet string, store volume.Store) error {
	socket := filepath.Join(kubelet, "plugins", name, "csi.sock")
	if err := os.MkdirAll(filepath.Dir(socket), 0o750); err != nil {
		return fmt.Errorf("create plugin folder: %w", err)
	}
	ended := make(chan error, 2)
	go func() {
		ended <- serve(ctx, socket, func(s *grpc.Server) {
			csi.RegisterIdentityServer(s, &Identity{Name: name})
			csi.RegisterNodeServer(s, &Node{Name: node, Store: store})
		})
	}()
	go func() {
		ended <- serve(ctx, filepath.Join(kubelet, "plugins_registry", name+"-reg.sock"), func(s *grpc.Server) {
			registration.RegisterRegistrationServer(s, &registrar{name: name, socket: socket})
		})
	}()
	return <-ended
}

func serve(ctx context.Context, socket string, register func(*grpc.Server)) error {
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove old socket: %w", err)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := grpc.NewServer()
	register(server)
	stop := context.AfterFunc(ctx, server.Stop)
	defer stop()
	if err := server.Serve(listener); err != nil {
		return fmt.Errorf("serve %s: %w", socket, err)
	}
	return nil
}

// registrar makes the driver known to the kubelet, which looks for sockets in its plugins_registry folder.
type registrar struct {
	registration.UnimplementedRegistrationServer

	name   string
	socket string
}

// GetInfo says where the driver answers.
func (r *registrar) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{Type: registration.CSIPlugin, Name: r.name, Endpoint: r.socket, SupportedVersions: []string{"1.0.0"}}, nil
}

// NotifyRegistrationStatus hears whether the kubelet took the driver.
func (r *registrar) NotifyRegistrationStatus(_ context.Context, s *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	if !s.GetPluginRegistered() {
		return nil, fmt.Errorf("register driver: %s", s.GetError())
	}
	return &registration.RegistrationStatusResponse{}, nil
}
