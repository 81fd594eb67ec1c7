// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/instance/bootstrap"
	"github.com/keelson-dev/mysql-operator/internal/instance/marker"
	"github.com/keelson-dev/mysql-operator/internal/instance/mysqld"
	"github.com/keelson-dev/mysql-operator/internal/mysql"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// job fills the instance on another goroutine. An order leaves it in the inbox; the loop starts it.
type job struct {
	phase    wire.State
	donor    string
	work     work
	cancel   context.CancelFunc // nil until it is started
	prepared *preparation       // what was made ready before the order came, or nil
	progress atomic.Pointer[mysql.CloneProgress]
	finished chan struct{}
	// Valid once finished is closed.
	server *mysqld.Server
	err    error
}

// work makes the datadir complete, and may return the server that runs on it.
type work func(ctx context.Context, j *job) (*mysqld.Server, error)

func (m *Manager) startJob(ctx context.Context, j *job) {
	ctx, cancel := context.WithCancel(ctx)
	m.inbox.mu.Lock()
	j.cancel = cancel
	if m.inbox.stop {
		cancel() // the request came between the order and its start, and found nothing to cancel
	}
	m.inbox.mu.Unlock()
	go func() {
		defer cancel()
		j.server, j.err = j.work(ctx, j)
		close(j.finished)
		m.poke()
	}()
}

// jobStep looks after a job; true while it is the job that has the instance.
func (m *Manager) jobStep(ctx context.Context) bool {
	m.inbox.mu.Lock()
	j, started := m.inbox.job, m.inbox.job != nil && m.inbox.job.cancel != nil
	m.inbox.mu.Unlock()
	switch {
	case j == nil:
		return false
	case !started:
		m.become(j.phase, "")
		m.giveUpData()
		j.prepared, m.prepared = m.prepared, nil
		m.startJob(ctx, j)
		return true
	}
	select {
	case <-j.finished:
		m.endJob(j)
		return false
	default:
		m.become(j.phase, "")
		return true
	}
}

// giveUpData ends the server whose data an order has replaced.
func (m *Manager) giveUpData() {
	m.fence, m.offline = "", nil
	if m.server == nil {
		return
	}
	if err := m.server.Kill(); err != nil {
		m.log.Error(err, "Killing mysqld")
	}
	m.forget()
}

func (m *Manager) endJob(j *job) {
	m.inbox.mu.Lock()
	m.inbox.job = nil
	m.inbox.mu.Unlock()
	m.intact, m.attached, m.notBefore, m.recovery = true, false, time.Time{}, nil
	if j.err == nil {
		if j.server != nil {
			m.take(j.server)
		}
		return
	}
	m.why = j.err.Error()
	m.log.Error(j.err, "Filling the instance")
	if err := errors.Join(bootstrap.RemoveLeftovers(m.cfg.Paths), bootstrap.RemoveData(m.cfg.Paths)); err != nil {
		m.log.Error(err, "Removing leftovers")
	}
}

// initialize makes the first datadir. Its base set is empty: it was made without a binlog (I9).
func (m *Manager) initialize(order *wire.InitializeOrder) work {
	return func(ctx context.Context, j *job) (*mysqld.Server, error) {
		j.prepared.drop()
		if err := bootstrap.Initialize(ctx, m.launcher, order.GetDatabase(), order.GetOwner()); err != nil {
			return nil, err
		}
		return nil, m.complete("")
	}
}

// complete says that the datadir is complete: from here on it is never removed without an order that names it.
func (m *Manager) complete(base string) error {
	return m.store.Update(func(r marker.Record) (marker.Record, error) {
		r.Initialized, r.Base, r.BootID, r.Clean = true, &base, m.cfg.BootID, false
		return r, nil
	})
}

// clone receives the donor's data, starts it closed and makes it this instance's own.
func (m *Manager) clone(order *wire.CloneOrder, id mysqld.Identity) work {
	return func(ctx context.Context, j *job) (*mysqld.Server, error) {
		scratch, err := m.scratch(ctx, j)
		if err != nil {
			return nil, err
		}
		if err := m.receive(ctx, j, scratch, order); err != nil {
			return nil, errors.Join(fmt.Errorf("clone from %s: %w", order.GetDonor(), err), bootstrap.Discard(scratch))
		}
		s, err := m.launcher.Start(id)
		if err != nil {
			return nil, err
		}
		if err := m.settleClone(ctx, s); err != nil {
			return nil, errors.Join(err, s.Kill(), s.DB.Close())
		}
		return s, nil
	}
}

// scratch starts the throw-away server, on the datadir that was made ready or on one that is made now.
func (m *Manager) scratch(ctx context.Context, j *job) (*mysqld.Server, error) {
	if err := bootstrap.RemoveData(m.cfg.Paths); err != nil {
		return nil, err
	}
	if !j.prepared.ready(ctx) {
		if err := bootstrap.Prepare(ctx, m.launcher); err != nil {
			return nil, err
		}
	}
	return bootstrap.StartScratch(ctx, m.launcher)
}

// receive borrows the donor for as long as the clone takes. A donor that gives up ends it.
func (m *Manager) receive(ctx context.Context, j *job, scratch *mysqld.Server, order *wire.CloneOrder) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	release, lost, err := m.peers.Borrow(ctx, order.GetDonor())
	if err != nil {
		return err
	}
	defer release()
	go func() {
		select {
		case <-lost:
			cancel()
		case <-ctx.Done():
		}
	}()
	source := bootstrap.Source{Host: order.GetDonorHost(), Port: int(order.GetDonorPort())}
	return bootstrap.Clone(ctx, m.launcher, scratch, source, func(p mysql.CloneProgress) {
		j.progress.Store(&p)
		m.poke()
	})
}

// settleClone removes what the copy inherited of the donor's role, and notes the set that only InnoDB's table knows:
// a clone has no binlog of its past (F12).
func (m *Manager) settleClone(ctx context.Context, s *mysqld.Server) error {
	if err := s.Await(ctx); err != nil {
		return fmt.Errorf("start the cloned datadir: %w", err)
	}
	status, err := s.DB.Status(ctx)
	if err != nil {
		return err
	}
	if status.Channel.Configured {
		if err := s.DB.ForgetSource(ctx); err != nil {
			return err
		}
	}
	return m.complete(status.Executed.String())
}
