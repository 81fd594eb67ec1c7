// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"

	"github.com/keelson-dev/mysql-operator/internal/instance/bootstrap"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// preparation makes the throw-away server's datadir while the instance is empty.
type preparation struct {
	cancel   context.CancelFunc
	finished chan struct{}
	err      error // valid once finished is closed
}

// prepare begins it. Instance 0 is usually initialised, and would only lose time.
func (m *Manager) prepare(ctx context.Context) {
	if ordinal, _ := naming.Ordinal(m.cfg.Cluster, m.cfg.Instance); m.prepared != nil || ordinal == 0 {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &preparation{cancel: cancel, finished: make(chan struct{})}
	m.prepared = p
	m.tasks.Go(func() {
		defer close(p.finished)
		defer cancel()
		p.err = bootstrap.Prepare(ctx, m.launcher)
		if p.err != nil && ctx.Err() == nil {
			m.log.Error(p.err, "Making ready for a clone")
		}
	})
}

// ready waits for it, and tells whether it can be used.
func (p *preparation) ready(ctx context.Context) bool {
	if p == nil {
		return false
	}
	select {
	case <-p.finished:
		return p.err == nil
	case <-ctx.Done():
		p.drop()
		return false
	}
}

// drop ends it and waits for its end. What it made is a leftover.
func (p *preparation) drop() {
	if p == nil {
		return
	}
	p.cancel()
	<-p.finished
}
