// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/tls"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"

	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// heartbeat is how often a snapshot is sent although nothing changed.
const heartbeat = time.Second

// Orders is what the manager does on behalf of callers. Errors are gRPC statuses.
type Orders interface {
	Initialize(ctx context.Context, order *wire.InitializeOrder) error
	Clone(ctx context.Context, order *wire.CloneOrder) error
	SetRole(ctx context.Context, order *wire.RoleOrder) error
	Ask(ctx context.Context, req *wire.AskRequest) (*wire.AskReply, error)
	// LendClone prepares the donor, calls ready, and keeps it so until ctx ends.
	LendClone(ctx context.Context, recipient string, ready func() error) error
}

// New returns the gRPC server of one instance. tlsConfig must require and verify the certificates of callers.
func New(namespace, cluster string, tlsConfig *tls.Config, hub *Hub, orders Orders) *grpc.Server {
	g := guard{namespace: namespace, cluster: cluster, table: callers()}
	s := grpc.NewServer(
		grpc.Creds(credentials.NewTLS(tlsConfig)),
		grpc.UnaryInterceptor(g.unary),
		grpc.StreamInterceptor(g.stream),
		// A caller that vanished with its node must not hold a lent donor for the kernel's two hours.
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 5 * time.Second, Timeout: 5 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}),
	)
	wire.RegisterInstanceServer(s, &service{hub: hub, orders: orders})
	return s
}

type service struct {
	wire.UnimplementedInstanceServer
	hub    *Hub
	orders Orders
}

// Watch sends the newest snapshot at once, at each change, and as a heartbeat.
func (s *service) Watch(_ *wire.WatchRequest, stream wire.Instance_WatchServer) error {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		snapshot, changed := s.hub.Latest()
		if err := stream.Send(snapshot); err != nil {
			return err
		}
		tick.Reset(heartbeat)
		select {
		case <-stream.Context().Done():
			return stream.Context().Err()
		case <-changed:
		case <-tick.C:
		}
	}
}

// Initialize passes the order on.
func (s *service) Initialize(ctx context.Context, order *wire.InitializeOrder) (*wire.OrderReply, error) {
	return s.reply(s.orders.Initialize(ctx, order))
}

// Clone passes the order on.
func (s *service) Clone(ctx context.Context, order *wire.CloneOrder) (*wire.OrderReply, error) {
	return s.reply(s.orders.Clone(ctx, order))
}

// SetRole passes the order on.
func (s *service) SetRole(ctx context.Context, order *wire.RoleOrder) (*wire.OrderReply, error) {
	return s.reply(s.orders.SetRole(ctx, order))
}

func (s *service) reply(err error) (*wire.OrderReply, error) {
	if err != nil {
		return nil, err
	}
	snapshot, _ := s.hub.Latest()
	return &wire.OrderReply{Snapshot: snapshot}, nil
}

// Ask passes the question on.
func (s *service) Ask(ctx context.Context, req *wire.AskRequest) (*wire.AskReply, error) {
	return s.orders.Ask(ctx, req)
}

// LendClone holds the donor ready while the stream is open.
func (s *service) LendClone(req *wire.LendCloneRequest, stream wire.Instance_LendCloneServer) error {
	return s.orders.LendClone(stream.Context(), req.GetRecipient(), func() error {
		return stream.Send(&wire.LendCloneReply{Ready: true})
	})
}
