// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/instance/server"
)

const headerTimeout = 5 * time.Second

// serve opens the three ports and serves until ctx ends; the channel tells of one that failed.
func (m *Manager) serve(ctx context.Context) (<-chan error, error) {
	failed := make(chan error, 3)
	var lc net.ListenConfig
	rpc, err := lc.Listen(ctx, "tcp", m.cfg.ManagerAddress)
	if err != nil {
		return nil, fmt.Errorf("listen for orders: %w", err)
	}
	s := server.New(m.cfg.Namespace, m.cfg.Cluster, m.certs.server(), m.hub, m)
	go func() { failed <- s.Serve(rpc) }()
	context.AfterFunc(ctx, s.Stop)
	for _, h := range []struct {
		address string
		handler http.Handler
	}{
		{m.cfg.ProbesAddress, server.Probes(m.hub, m)},
		{m.cfg.MetricsAddress, server.Metrics(m.hub, m.usage)},
	} {
		l, err := lc.Listen(ctx, "tcp", h.address)
		if err != nil {
			s.Stop()
			return nil, fmt.Errorf("listen: %w", err)
		}
		web := &http.Server{Handler: h.handler, ReadHeaderTimeout: headerTimeout}
		go func() {
			if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		}()
		context.AfterFunc(ctx, func() { _ = web.Close() })
	}
	return failed, nil
}
