// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
	"github.com/keelson-dev/mysql-operator/internal/instance/role"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

const (
	// askTimeout bounds one question; the one who is asked reads its sets from memory.
	askTimeout = 2 * time.Second
	// dialTimeout is short because the address may be that of a pod that was replaced.
	dialTimeout = time.Second
	retryMin    = 100 * time.Millisecond
	retryMax    = time.Second
	// keepaliveEvery is the least that gRPC allows a client.
	keepaliveEvery   = 10 * time.Second
	keepaliveTimeout = 5 * time.Second
)

// Client keeps one connection to each peer that was asked.
type Client struct {
	// Self is this instance's name.
	Self string
	// Address returns host:port of a peer's manager.
	Address func(instance string) string
	// TLS returns a configuration that shows our identity and accepts only that peer's.
	TLS func(instance string) *tls.Config

	mu    sync.Mutex
	conns map[string]*grpc.ClientConn
}

// Close closes the connections.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, conn := range c.conns {
		errs = append(errs, conn.Close())
	}
	c.conns = nil
	return errors.Join(errs...)
}

func (c *Client) conn(instance string) (*grpc.ClientConn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn := c.conns[instance]; conn != nil {
		return conn, nil
	}
	dialer := &net.Dialer{Timeout: dialTimeout}
	conn, err := grpc.NewClient("passthrough:///"+c.Address(instance),
		grpc.WithTransportCredentials(credentials.NewTLS(c.TLS(instance))),
		// Resolved at each dial: a pod that came back has another address.
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", address)
		}),
		// A donor that vanished with its node must not hold a clone for the kernel's two hours.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveEvery, Timeout: keepaliveTimeout}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: retryMin, Multiplier: 2, Jitter: 0.2, MaxDelay: retryMax},
			MinConnectTimeout: dialTimeout,
		}))
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", instance, err)
	}
	if c.conns == nil {
		c.conns = map[string]*grpc.ClientConn{}
	}
	c.conns[instance] = conn
	return conn, nil
}

// forget drops a connection that did not answer: it may lead to a node that vanished.
func (c *Client) forget(instance string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn := c.conns[instance]; conn != nil {
		_ = conn.Close() // it did not work
		delete(c.conns, instance)
	}
}

// Raw asks and returns the reply as it is.
func (c *Client) Raw(ctx context.Context, instance string) (*wire.AskReply, error) {
	conn, err := c.conn(instance)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	reply, err := wire.NewInstanceClient(conn).Ask(ctx, &wire.AskRequest{Instance: c.Self})
	if err != nil {
		c.forget(instance)
		return nil, fmt.Errorf("ask %s: %w", instance, err)
	}
	return reply, nil
}

// Ask asks, for the role engine.
func (c *Client) Ask(ctx context.Context, instance string) (role.Answer, error) {
	reply, err := c.Raw(ctx, instance)
	if err != nil {
		return role.Answer{}, err
	}
	a := role.Answer{
		ClusterUID: reply.GetMarker().GetClusterUid(), Incarnation: reply.GetMarker().GetIncarnation(),
		SourceUUID: reply.GetSourceUuid(),
	}
	if reply.GetGtid() == nil {
		return a, nil
	}
	for _, text := range []string{reply.GetGtid().GetExecuted(), reply.GetGtid().GetReceived(), reply.GetGtid().GetOwned()} {
		set, err := gtid.Parse(text)
		if err != nil {
			return role.Answer{}, fmt.Errorf("read sets of %s: %w", instance, err)
		}
		a.Held = a.Held.Union(set)
	}
	a.Known = true
	return a, nil
}

// Borrow asks a donor to make itself ready for a clone, waits until it is, and keeps it so until the returned
// function is called. lost is closed when the donor gave up.
func (c *Client) Borrow(ctx context.Context, donor string) (release func(), lost <-chan struct{}, err error) {
	conn, err := c.conn(donor)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	stream, err := wire.NewInstanceClient(conn).LendClone(ctx, &wire.LendCloneRequest{Recipient: c.Self})
	if err == nil {
		_, err = stream.Recv()
	}
	if err != nil {
		cancel()
		return nil, nil, fmt.Errorf("borrow %s: %w", donor, err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = stream.Recv() // nothing more is sent: it returns at the end
	}()
	return func() { cancel(); <-gone }, gone, nil
}
