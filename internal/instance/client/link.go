// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/keelson-dev/mysql-operator/internal/wire"
)

const (
	// orderTimeout bounds one order: storing it is one fsync, everything else converges afterwards.
	orderTimeout = 5 * time.Second
	// silence is five missed heartbeats: the connection leads to something that is gone.
	silence = 5 * time.Second
	// dialTimeout is short because the address may be that of a pod that was replaced.
	dialTimeout = 2 * time.Second
	backoffMin  = 100 * time.Millisecond
	backoffMax  = 2 * time.Second
	// progressEvery bounds how often mere GTID progress wakes the operator.
	progressEvery = time.Second
)

var errSilent = errors.New("stream is silent")

// link is the stream to one instance at one endpoint.
type link struct {
	key      Key
	endpoint Endpoint
	notify   func()
	ctx      context.Context //nolint:containedctx // the life of this stream, ended by stop
	cancel   context.CancelFunc

	mu     sync.Mutex
	obs    Observation
	conn   *grpc.ClientConn // nil while not dialled
	told   *wire.Snapshot   // what the last notification was about
	toldAt time.Time
}

func newLink(ctx context.Context, key Key, e Endpoint, notify func()) *link {
	ctx, cancel := context.WithCancel(ctx)
	return &link{key: key, endpoint: e, notify: notify, ctx: ctx, cancel: cancel}
}

func (l *link) stop() { l.cancel() }

// inherit takes over what an earlier link to the same instance had heard.
func (l *link) inherit(old *link) {
	o := old.observation()
	l.obs = Observation{Snapshot: o.Snapshot, Received: o.Received}
}

func (l *link) observation() Observation {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.obs
}

// run keeps the stream up until stop.
func (l *link) run() {
	wait := backoffMin
	for l.ctx.Err() == nil {
		heard, err := l.once()
		l.down(err)
		if heard {
			wait = backoffMin
		}
		timer := time.NewTimer(wait/2 + rand.N(wait)) //nolint:gosec // jitter, not a secret
		select {
		case <-l.ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		wait = min(2*wait, backoffMax)
	}
}

// once dials, streams until the stream ends or falls silent, and hangs up.
func (l *link) once() (heard bool, err error) {
	conn, err := l.dial()
	if err != nil {
		return false, fmt.Errorf("dial %s: %w", l.endpoint.Address, err)
	}
	l.mu.Lock()
	l.conn = conn
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.conn = nil
		l.mu.Unlock()
		_ = conn.Close() // nothing is lost: the stream has ended
	}()
	ctx, cancel := context.WithCancelCause(l.ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer watchdog.Stop()
	stream, err := wire.NewInstanceClient(conn).Watch(ctx, &wire.WatchRequest{})
	for err == nil {
		var s *wire.Snapshot
		if s, err = stream.Recv(); err == nil {
			heard = true
			watchdog.Reset(silence)
			l.heard(s)
		}
	}
	if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
		err = cause
	}
	return heard, fmt.Errorf("watch %s: %w", l.endpoint.Address, err)
}

func (l *link) dial() (*grpc.ClientConn, error) {
	dialer := &net.Dialer{Timeout: dialTimeout}
	return grpc.NewClient("passthrough:///"+l.endpoint.Address,
		grpc.WithTransportCredentials(credentials.NewTLS(l.endpoint.TLS)),
		// The name is resolved at each dial: gRPC's own resolver would keep an old pod's address for 30 s.
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", address)
		}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: backoffMin, Multiplier: 2, Jitter: 0.2, MaxDelay: backoffMax},
			MinConnectTimeout: dialTimeout,
		}))
}

// heard takes in a snapshot from the stream.
func (l *link) heard(s *wire.Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	news := !l.obs.Connected
	l.obs.Connected, l.obs.Err = true, nil
	l.accept(s, news)
}

// replied takes in a snapshot from the reply to an order.
func (l *link) replied(s *wire.Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accept(s, false)
}

// accept keeps the newer of two snapshots and tells of changes. News is measured against what was last told, so that
// progress which was held back is told with a later heartbeat.
func (l *link) accept(s *wire.Snapshot, news bool) {
	old, now := l.obs.Snapshot, time.Now()
	l.obs.Received = now
	if old != nil && old.GetManagerId() == s.GetManagerId() && old.GetSequence() > s.GetSequence() {
		return
	}
	l.obs.Snapshot = s
	switch {
	case news, !onlyProgress(l.told, s), !sameGTIDs(l.told, s) && now.Sub(l.toldAt) >= progressEvery:
	default:
		return
	}
	l.told, l.toldAt = s, now
	l.notify()
}

func (l *link) down(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	wasUp := l.obs.Connected
	l.obs.Connected, l.obs.Err = false, err
	if wasUp && l.ctx.Err() == nil {
		l.notify()
	}
}

func (l *link) order(ctx context.Context, send call) (*wire.Snapshot, error) {
	l.mu.Lock()
	conn := l.conn
	l.mu.Unlock()
	if conn == nil {
		return nil, status.Errorf(codes.Unavailable, "no connection to %s", l.key.Instance)
	}
	ctx, cancel := context.WithTimeout(ctx, orderTimeout)
	defer cancel()
	reply, err := send(ctx, wire.NewInstanceClient(conn))
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller branches on the gRPC code
	}
	if s := reply.GetSnapshot(); s != nil {
		l.replied(s)
	}
	return reply.GetSnapshot(), nil
}

func sameGTIDs(a, b *wire.Snapshot) bool {
	return proto.Equal(a.GetGtid(), b.GetGtid())
}
