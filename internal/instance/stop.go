// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/instance/marker"
	"github.com/keelson-dev/mysql-operator/internal/instance/mysqld"
	"github.com/keelson-dev/mysql-operator/internal/mysql"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

const (
	// leaveTimeout is how long a stopping replica waits to be dropped from the member list, so that no commit waits
	// for it.
	leaveTimeout = 10 * time.Second
	// shutdownTimeout bounds a clean shutdown; a pod's grace period should be longer.
	shutdownTimeout = 4 * time.Minute
	// beatEvery is how often a long stop says that the manager goes on.
	beatEvery = time.Second
)

// stopping is the progress of an ordered end.
type stopping struct {
	since time.Time
}

// stopStep goes towards the end; done means that mysqld is stopped.
func (m *Manager) stopStep(ctx context.Context, rec marker.Record) (done bool) {
	if m.stopping == nil {
		m.stopping = &stopping{since: time.Now()}
	}
	m.become(wire.State_STATE_STOPPING, "")
	if m.server == nil {
		return true
	}
	if m.mustLeave(ctx, rec) {
		m.why = "waiting to be dropped from the list of those who acknowledge"
		return false
	}
	m.publish()
	if err := m.stopInRole(ctx, rec); err != nil {
		m.log.Error(err, "Stopping mysqld")
	}
	m.forget()
	return true
}

// mustLeave tells whether commits of the primary may still wait for this replica, and takes in an order that drops it.
func (m *Manager) mustLeave(ctx context.Context, rec marker.Record) bool {
	if rec.Order.Role != wire.Role_ROLE_REPLICA || !m.answering || time.Since(m.stopping.since) > leaveTimeout {
		return false
	}
	if status, err := m.server.DB.Status(ctx); err == nil {
		m.status = status
		m.converge(ctx, rec)
	}
	m.phase = wire.State_STATE_STOPPING
	return rec.Order.Acking
}

// stopInRole stops mysqld as its role demands.
func (m *Manager) stopInRole(ctx context.Context, rec marker.Record) error {
	if !m.acknowledges(rec) {
		return m.stopCleanly(ctx)
	}
	if !m.answering {
		// What it waits for cannot be told: SIGTERM might acknowledge it.
		return m.server.Kill()
	}
	// SIGTERM while a commit waits would engine-commit it, and spoil a rewind (B6).
	if err := m.server.DB.SetOffline(ctx, true); err != nil {
		return errors.Join(err, m.server.Kill())
	}
	if err := m.server.DB.SetReadOnly(ctx); err != nil {
		m.log.Info("Killing mysqld: a commit waits for an acknowledgement")
		return errors.Join(err, m.server.Kill())
	}
	// Every commit is acknowledged now. mysqld would wait ten seconds for its dump threads to end by themselves.
	if err := m.server.DB.DismissReplicas(ctx); err != nil {
		m.log.Error(err, "Dismissing replicas")
	}
	return m.stopCleanly(ctx)
}

// acknowledges tells whether clients may have commits in this process that wait. The process counts too: an order that
// makes a primary something else may be stored and not yet in effect.
func (m *Manager) acknowledges(rec marker.Record) bool {
	return rec.Order.Role == wire.Role_ROLE_PRIMARY || m.memory.Opened() || m.status.SourceEnabled
}

// stopCleanly stops mysqld and notes that it was clean, after everything is on the disk: the next start then needs no
// scan, and another boot id means nothing (M4).
func (m *Manager) stopCleanly(ctx context.Context) error {
	if m.recovery != nil || !m.answering {
		return m.stopServer(ctx)
	}
	clean, err := m.stopProcess(ctx)
	if err != nil || !clean {
		return err
	}
	if err := mysqld.SyncVolume(m.cfg.Paths.Datadir()); err != nil {
		return err
	}
	return m.store.Update(func(r marker.Record) (marker.Record, error) {
		r.Clean = true
		return r, nil
	})
}

// stopServer stops mysqld without noting anything.
func (m *Manager) stopServer(ctx context.Context) error {
	_, err := m.stopProcess(ctx)
	return err
}

func (m *Manager) stopProcess(ctx context.Context) (clean bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	m.setDB(nil)
	// mysqld waits two seconds for sessions to end by themselves.
	_ = m.server.DB.Close() // nothing is asked any more
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	if err := m.server.Signal(syscall.SIGTERM); err != nil {
		return false, err
	}
	for {
		select {
		case <-m.server.Ended():
			return m.server.Err() == nil, nil
		case <-ctx.Done():
			return false, m.server.Kill()
		case <-tick.C:
			m.beat()
		}
	}
}

// fenceStep keeps mysqld stopped. A former primary is stopped in its own order.
func (m *Manager) fenceStep(ctx context.Context, rec marker.Record) {
	why := m.fence
	if why == "" {
		why = "fenced by order"
	}
	m.become(wire.State_STATE_FENCED, why)
	if m.server == nil {
		m.scan(rec) // what it holds is told: others decide by it whether it is needed
		return
	}
	if err := m.fenceServer(ctx); err != nil {
		m.log.Error(err, "Fencing")
	}
	if !m.server.Running() {
		m.forget()
	}
}

func (m *Manager) fenceServer(ctx context.Context) error {
	if !m.answering || m.recovery != nil {
		return m.server.Kill()
	}
	err := m.server.DB.SetReadOnly(ctx)
	if errors.Is(err, mysql.ErrTimeout) {
		return m.server.Kill()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("fence: %w", err), m.server.Kill())
	}
	return m.stopCleanly(ctx)
}
