// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"context"
	"crypto/tls"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/keelson-dev/mysql-operator/internal/instance/client"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// Instances is the operator's connection to the instances of all clusters.
type Instances interface {
	// Track keeps a stream to the instance in that pod. What an earlier pod of the same name said is forgotten. It
	// returns at once.
	Track(key client.Key, target Target)
	// Observe returns the newest that the instance said; Observation.Snapshot is nil when it said nothing yet.
	Observe(key client.Key) Observation
	// Forget ends the streams to all instances of a cluster but those named.
	Forget(namespace, cluster string, keep map[string]bool)
	// Send sends one order (*wire.RoleOrder, *wire.InitializeOrder or *wire.CloneOrder) and returns the instance's
	// refusal as a gRPC status. It takes at most a few seconds.
	Send(ctx context.Context, key client.Key, order any) error
	// Changes delivers the key of each instance about which something changed.
	Changes() <-chan client.Key
}

// Target is the pod in which an instance is reached.
type Target struct {
	PodUID  types.UID
	Address string
	TLS     *tls.Config
	// Version tells one TLS from another.
	Version string
}

// Observation is the newest that an instance said.
type Observation struct {
	Snapshot *wire.Snapshot
	Received time.Time
	// Err is why the stream is not up.
	Err error
}

// Pool is the Instances of a running operator.
type Pool struct {
	pool *client.Pool
	mu   sync.Mutex
	pods map[client.Key]types.UID
}

var _ Instances = (*Pool)(nil)

// NewPool returns the Instances that uses the streams of pool.
func NewPool(pool *client.Pool) *Pool { return &Pool{pool: pool, pods: map[client.Key]types.UID{}} }

// Track implements Instances.
func (p *Pool) Track(key client.Key, target Target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pods[key] != target.PodUID {
		p.pool.Forget(key)
		p.pods[key] = target.PodUID
	}
	p.pool.Ensure(key, client.Endpoint{Address: target.Address, TLS: target.TLS, Version: target.Version})
}

// Observe implements Instances.
func (p *Pool) Observe(key client.Key) Observation {
	o, _ := p.pool.Get(key)
	return Observation{Snapshot: o.Snapshot, Received: o.Received, Err: o.Err}
}

// Forget implements Instances.
func (p *Pool) Forget(namespace, cluster string, keep map[string]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, key := range p.pool.Keys(namespace, cluster) {
		if !keep[key.Instance] {
			p.pool.Forget(key)
			delete(p.pods, key)
		}
	}
}

// Send implements Instances.
func (p *Pool) Send(ctx context.Context, key client.Key, order any) error {
	var err error
	switch o := order.(type) {
	case *wire.RoleOrder:
		_, err = p.pool.SetRole(ctx, key, o)
	case *wire.InitializeOrder:
		_, err = p.pool.Initialize(ctx, key, o)
	case *wire.CloneOrder:
		_, err = p.pool.Clone(ctx, key, o)
	default:
		err = client.ErrUnknown
	}
	return err //nolint:wrapcheck // the caller branches on the gRPC code
}

// Changes implements Instances.
func (p *Pool) Changes() <-chan client.Key { return p.pool.Changes() }
