// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"crypto/tls"
	"errors"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// ErrUnknown is returned for an instance that Ensure was not called for.
var ErrUnknown = errors.New("instance is not in the pool")

// Key names one instance of one cluster.
type Key struct {
	Namespace, Cluster, Instance string
}

// Endpoint is where an instance is reached and how it is trusted.
type Endpoint struct {
	// Address is host:port of the manager.
	Address string
	// TLS presents the operator's identity and accepts only the identity of this instance.
	TLS *tls.Config
	// Version tells one TLS from another (tls.Config cannot be compared): a changed Version or Address dials anew.
	Version string
}

// Observation is the newest that an instance said, and when.
type Observation struct {
	// Snapshot is shared: it must not be changed.
	Snapshot *wire.Snapshot
	// Received is when the newest message arrived, a heartbeat included.
	Received time.Time
	// Connected tells whether the stream is up now.
	Connected bool
	// Err is why the stream is not up; nil while it is, and before the first attempt ended.
	Err error
}

// Pool holds the streams to all instances the operator knows. Its zero value is not usable: call NewPool.
type Pool struct {
	notifier notifier

	ctx    context.Context //nolint:containedctx // the life of the streams, which outlives every reconcile
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu    sync.Mutex
	links map[Key]*link
}

// NewPool returns an empty pool whose streams end with ctx, or with Close.
func NewPool(ctx context.Context) *Pool {
	ctx, cancel := context.WithCancel(ctx)
	p := &Pool{ctx: ctx, cancel: cancel, links: map[Key]*link{}, notifier: newNotifier()}
	p.wg.Go(func() { p.notifier.run(ctx) })
	return p
}

// Close ends all streams and waits for them.
func (p *Pool) Close() {
	p.cancel()
	p.wg.Wait()
}

// Changes delivers the key of an instance after something about it changed: at once for states, roles, errors and
// barriers and for a stream that went up or down, at most once a second for mere progress of GTID sets. Keys are
// coalesced, so a slow reader misses no instance and sees the newest with Get.
func (p *Pool) Changes() <-chan Key { return p.notifier.out }

// Ensure keeps a stream to the instance at e, replacing one to another address or with other certificates.
// What is known of the instance is kept over such a change. It returns at once.
func (p *Pool) Ensure(key Key, e Endpoint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return
	}
	old := p.links[key]
	if old != nil && old.endpoint.Address == e.Address && old.endpoint.Version == e.Version {
		return
	}
	l := newLink(p.ctx, key, e, func() { p.notifier.add(key) })
	if old != nil {
		old.stop()
		l.inherit(old)
	}
	p.links[key] = l
	p.wg.Go(l.run)
}

// Forget ends the stream to the instance and forgets what it said.
func (p *Pool) Forget(key Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.links[key]; l != nil {
		l.stop()
		delete(p.links, key)
	}
}

// Keys returns the instances of one cluster that are in the pool, in no order.
func (p *Pool) Keys(namespace, cluster string) []Key {
	p.mu.Lock()
	defer p.mu.Unlock()
	var keys []Key
	for k := range p.links {
		if k.Namespace == namespace && k.Cluster == cluster {
			keys = append(keys, k)
		}
	}
	return keys
}

// Get returns the newest observation; ok is false for an instance that has not said anything since Ensure.
func (p *Pool) Get(key Key) (o Observation, ok bool) {
	l := p.link(key)
	if l == nil {
		return Observation{}, false
	}
	o = l.observation()
	return o, o.Snapshot != nil
}

// Err returns why the stream to the instance is not up; nil while it is up or was not tried yet.
func (p *Pool) Err(key Key) error {
	l := p.link(key)
	if l == nil {
		return ErrUnknown
	}
	return l.observation().Err
}

// SetRole sends a role order; the reply's snapshot is also what Get returns from then on.
// The error is a gRPC status: FailedPrecondition and Aborted are refusals by the instance.
func (p *Pool) SetRole(ctx context.Context, key Key, order *wire.RoleOrder) (*wire.Snapshot, error) {
	return p.order(ctx, key, func(ctx context.Context, c wire.InstanceClient) (*wire.OrderReply, error) {
		return c.SetRole(ctx, order)
	})
}

// Initialize orders the making of the cluster's first datadir.
func (p *Pool) Initialize(ctx context.Context, key Key, order *wire.InitializeOrder) (*wire.Snapshot, error) {
	return p.order(ctx, key, func(ctx context.Context, c wire.InstanceClient) (*wire.OrderReply, error) {
		return c.Initialize(ctx, order)
	})
}

// Clone orders an instance to be filled from a donor.
func (p *Pool) Clone(ctx context.Context, key Key, order *wire.CloneOrder) (*wire.Snapshot, error) {
	return p.order(ctx, key, func(ctx context.Context, c wire.InstanceClient) (*wire.OrderReply, error) {
		return c.Clone(ctx, order)
	})
}

type call func(context.Context, wire.InstanceClient) (*wire.OrderReply, error)

func (p *Pool) order(ctx context.Context, key Key, send call) (*wire.Snapshot, error) {
	l := p.link(key)
	if l == nil {
		return nil, ErrUnknown
	}
	return l.order(ctx, send)
}

func (p *Pool) link(key Key) *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.links[key]
}

// onlyProgress tells whether two snapshots differ in nothing but what a busy server changes all the time.
func onlyProgress(a, b *wire.Snapshot) bool {
	return proto.Equal(withoutProgress(a), withoutProgress(b))
}

func withoutProgress(s *wire.Snapshot) *wire.Snapshot {
	if s == nil {
		return nil
	}
	c := proto.CloneOf(s)
	c.Sequence = 0
	if c.Gtid != nil {
		c.Gtid = &wire.GTIDs{}
	}
	if c.Server != nil {
		c.Server.LagMilliseconds = 0
		c.Server.WaitSessions = min(c.Server.GetWaitSessions(), 1)
		c.Server.ReceiverDownMilliseconds = min(c.Server.GetReceiverDownMilliseconds(), 1)
	}
	return c
}
