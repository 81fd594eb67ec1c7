// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/pki"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// callers is who may call what. A method that is not here is refused, so a new one must be thought about.
func callers() map[string][]string {
	operator := []string{naming.IdentityOperator}
	instance := []string{naming.IdentityInstance}
	return map[string][]string{
		wire.Instance_Watch_FullMethodName:      operator,
		wire.Instance_Initialize_FullMethodName: operator,
		wire.Instance_Clone_FullMethodName:      operator,
		wire.Instance_SetRole_FullMethodName:    operator,
		wire.Instance_Ask_FullMethodName:        {naming.IdentityInstance, naming.IdentityOperator},
		wire.Instance_LendClone_FullMethodName:  instance,
	}
}

// guard admits the identities of one cluster.
type guard struct {
	namespace, cluster string
	table              map[string][]string
}

func (g guard) check(ctx context.Context, method string) error {
	caller, err := g.caller(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(g.table[method], caller.Role) {
		return status.Errorf(codes.PermissionDenied, "%s may not call %s", caller.Role, method)
	}
	return nil
}

// caller reads the identity of the certificate, which TLS has verified and found to be of this cluster.
func (g guard) caller(ctx context.Context) (pki.Identity, error) {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return pki.Identity{}, status.Error(codes.Unauthenticated, "no peer")
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok {
		return pki.Identity{}, status.Error(codes.Unauthenticated, "no certificate")
	}
	id, err := pki.PeerIdentity(info.State)
	if err == nil {
		err = pki.AcceptCluster(g.namespace, g.cluster)(id)
	}
	if err != nil {
		return pki.Identity{}, status.Error(codes.Unauthenticated, err.Error())
	}
	return id, nil
}

func (g guard) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if err := g.check(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	return next(ctx, req)
}

func (g guard) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if err := g.check(ss.Context(), info.FullMethod); err != nil {
		return err
	}
	return next(srv, ss)
}
