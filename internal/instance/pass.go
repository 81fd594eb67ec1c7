// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/instance/marker"
	"github.com/keelson-dev/mysql-operator/internal/instance/role"
	"github.com/keelson-dev/mysql-operator/internal/mysql"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

const (
	// pingTimeout bounds the question whether a starting mysqld answers.
	pingTimeout = time.Second
	// certsEvery is how often the mounted certificates and passwords are looked at.
	certsEvery = 10 * time.Second
	// warmEvery is how often lost standing connections are made anew.
	warmEvery = 5 * time.Second
)

// pass goes round once: it looks at what is there, goes a step towards what is stored, and tells. done means that the
// manager may end.
func (m *Manager) pass(ctx context.Context) (done bool) {
	before := m.phase
	done = m.step(ctx)
	if m.phase != before || m.why != m.told {
		m.log.Info("State is "+m.phase.String()[len("STATE_"):], naming.LogReason, m.why)
		m.told = m.why
	}
	m.publish()
	return done
}

func (m *Manager) step(ctx context.Context) (done bool) {
	stop := m.stopRequested()
	if m.unusable.Load() != nil && !stop && time.Now().After(m.askVersion) {
		m.findVersion(ctx)
	}
	if why := m.barred(); why != "" {
		m.become(wire.State_STATE_QUARANTINED, why)
		return stop
	}
	m.refreshCertificates(ctx)
	m.refreshPasswords(ctx)
	if m.jobStep(ctx) {
		return false
	}
	m.noticeEnd()
	rec, _ := m.store.Get()
	if !rec.Initialized {
		m.becomeEmpty()
		if !stop {
			m.prepare(ctx)
		}
		return stop
	}
	if stop {
		return m.stopStep(ctx, rec)
	}
	m.runStep(ctx, rec)
	return false
}

func (m *Manager) become(phase wire.State, why string) { m.phase, m.why = phase, why }

func (m *Manager) stopRequested() bool {
	m.inbox.mu.Lock()
	defer m.inbox.mu.Unlock()
	return m.inbox.stop
}

// becomeEmpty keeps why: it says how the last attempt to fill the instance ended.
func (m *Manager) becomeEmpty() {
	if m.phase != wire.State_STATE_EMPTY && m.phase != wire.State_STATE_CLONING && m.phase != wire.State_STATE_INITIALIZING {
		m.why = ""
	}
	m.phase = wire.State_STATE_EMPTY
}

// runStep is a pass of an instance that has data and was not asked to stop.
func (m *Manager) runStep(ctx context.Context, rec marker.Record) {
	if rec.Order.Role == wire.Role_ROLE_FENCED || m.fence != "" {
		m.fenceStep(ctx, rec)
		return
	}
	if m.server == nil {
		m.startStep(ctx, rec)
		return
	}
	if !m.answering && !m.answers(ctx) {
		m.become(wire.State_STATE_STARTING, "")
		return
	}
	status, err := m.server.DB.Status(ctx)
	if err != nil {
		m.statusFailed(err)
		return
	}
	m.status = status
	m.become(wire.State_STATE_RUNNING, "")
	if m.recovery != nil && !m.recoverStep(ctx) {
		return
	}
	m.converge(ctx, rec)
	m.markLogs(ctx)
	m.warm(ctx)
}

// statusFailed keeps the process: whether a server that does not answer is dead is for others to decide.
func (m *Manager) statusFailed(err error) {
	m.log.Error(err, "Gathering status")
	m.setDB(nil)
	m.answering = false
	m.become(wire.State_STATE_RUNNING, "mysqld does not answer")
}

// answers asks a starting server.
func (m *Manager) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := m.server.DB.Ping(ctx); err != nil {
		m.log.V(2).Info("Asking mysqld", "err", err.Error())
		m.tryNewPassword(err)
		return false
	}
	m.answering = true
	m.removeInitFile()
	m.setDB(m.server)
	return true
}

// tryNewPassword logs in with what the Secret says now where the password before it is refused: the statement that
// changed it may have taken effect although its answer was lost.
func (m *Manager) tryNewPassword(err error) {
	if !errors.Is(err, mysql.ErrAccessDenied) {
		return
	}
	if c, err := m.cfg.Paths.ReadCredentials(); err == nil {
		m.server.DB.UsePassword(c.Manager)
	}
}

func (m *Manager) warm(ctx context.Context) {
	if time.Since(m.warmed) < warmEvery {
		return
	}
	m.warmed = time.Now()
	if err := m.server.DB.Warm(ctx); err != nil {
		m.log.V(1).Info("Opening standing connections", "err", err.Error())
	}
}

// converge goes towards the stored role.
func (m *Manager) converge(ctx context.Context, rec marker.Record) {
	engine := &role.Engine{DB: m.server.DB, Asker: m.peers, ClusterUID: rec.ClusterUID, Memory: m.memory, Log: m.log}
	var err error
	switch rec.Order.Role { //nolint:exhaustive // fenced does not run
	case wire.Role_ROLE_PRIMARY:
		m.status, err = engine.Primary(ctx, m.status, m.wantPrimary(rec))
		m.keepIntact(rec, nil)
		m.unstick(ctx)
	case wire.Role_ROLE_REPLICA:
		m.status, err = engine.Replica(ctx, m.status, m.wantReplica(rec))
		m.attached = m.attached || m.memory.Attached()
		m.keepIntact(rec, func() bool { return m.receivedAll(ctx, rec) })
	default:
		err = role.WaitingError{For: "no role was ordered yet"}
	}
	m.settle(ctx, rec, err)
}

// settle notes how far the role came.
func (m *Manager) settle(ctx context.Context, rec marker.Record, err error) {
	var waiting role.WaitingError
	var notOpen role.NotOpenError
	switch {
	case err == nil:
		m.setApplied(rec)
	case errors.As(err, &notOpen):
		m.setApplied(rec)
		m.why = notOpen.Error()
	case errors.As(err, &waiting):
		m.why = waiting.For
	case errors.Is(err, role.ErrStuck):
		m.why = err.Error()
		m.log.Error(err, "Killing mysqld")
		if err := m.server.Kill(); err != nil {
			m.log.Error(err, "Killing mysqld")
		}
	case ctx.Err() == nil:
		m.why = err.Error()
		if m.why != m.told {
			m.log.Error(err, "Taking the role", "role", rec.Order.Role.String())
		}
	}
}

func (m *Manager) setApplied(rec marker.Record) {
	order := rec.Clone().Order
	m.applied = &order
}

// refreshCertificates takes renewed certificates for the manager and for mysqld.
func (m *Manager) refreshCertificates(ctx context.Context) {
	if time.Since(m.certsRead) < certsEvery {
		return
	}
	m.certsRead = time.Now()
	changed, err := m.certs.refresh()
	if err != nil {
		m.log.Error(err, "Reading certificates")
	}
	// It stands until mysqld has them: a reload that failed, or that met a server that did not answer, is repeated.
	m.certsDue = m.certsDue || changed
	if !m.certsDue || !m.answering {
		return
	}
	m.log.Info("Reloading certificates")
	if err := m.server.DB.ReloadTLS(ctx); err != nil {
		m.log.Error(err, "Reloading certificates")
		return
	}
	m.certsDue = false
}

// refreshPasswords tells mysqld of passwords that were made anew while it runs. At the start it takes them from its init
// file; without this nobody could join or clone until then, since the others show what the Secret says now.
func (m *Manager) refreshPasswords(ctx context.Context) {
	if !m.answering || time.Since(m.passwordsRead) < certsEvery {
		return
	}
	m.passwordsRead = time.Now()
	now, err := m.cfg.Paths.ReadCredentials()
	if err != nil {
		m.log.Error(err, "Reading passwords")
		return
	}
	if now == m.server.Credentials {
		return
	}
	m.log.Info("Setting passwords that were changed")
	if err := m.server.SetPasswords(ctx, now); err != nil {
		m.log.Error(err, "Setting passwords")
	}
}
