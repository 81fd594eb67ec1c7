// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/keelson-dev/mysql-operator/internal/instance/mysqld"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// lending is a clone that is being taken from this instance.
type lending struct {
	recipient string
	replica   bool // its applier is stopped for it
	cancel    context.CancelFunc
}

// evictTimeout bounds the end of a clone session whose recipient has gone.
const evictTimeout = 10 * time.Second

func (m *Manager) lent() bool {
	m.inbox.mu.Lock()
	defer m.inbox.mu.Unlock()
	return m.inbox.lend != nil
}

// LendClone keeps this instance ready as a donor until ctx ends or its role needs it. A replica's applier is stopped
// meanwhile: with parallel workers it deadlocks with a clone when DDL arrives, and only the end of the clone session
// frees it. However the call ends, that session is ended, and the role loop starts the applier again.
func (m *Manager) LendClone(ctx context.Context, recipient string, ready func() error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := m.beginLending(recipient, cancel)
	if err != nil {
		return err
	}
	m.log.Info("Lending data for a clone", "recipient", recipient)
	defer m.endLending(ctx, s, recipient)
	if err := m.stopApplier(ctx, s); err != nil {
		return status.Error(codes.Unavailable, err.Error())
	}
	m.poke()
	if err := ready(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	case <-s.Ended():
		return status.Error(codes.Unavailable, "the donor's mysqld ended")
	}
}

func (m *Manager) beginLending(recipient string, cancel context.CancelFunc) (*mysqld.Server, error) {
	m.inbox.mu.Lock()
	defer m.inbox.mu.Unlock()
	if err := m.usable(); err != nil {
		return nil, err
	}
	rec, _ := m.store.Get()
	switch {
	case m.inbox.lend != nil:
		return nil, refuse("another clone is being taken, by " + m.inbox.lend.recipient)
	case m.inbox.db == nil || m.inbox.job != nil || !rec.Initialized:
		return nil, refuse("the donor's mysqld does not answer, or its data is not complete")
	}
	m.inbox.lend = &lending{recipient: recipient, replica: rec.Order.Role != wire.Role_ROLE_PRIMARY, cancel: cancel}
	return m.inbox.db, nil
}

func (m *Manager) stopApplier(ctx context.Context, s *mysqld.Server) error {
	st, err := s.DB.Status(ctx)
	if err != nil || !st.Channel.Applier {
		return err
	}
	return s.DB.StopApplier(ctx)
}

func (m *Manager) endLending(ctx context.Context, s *mysqld.Server, recipient string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), evictTimeout)
	defer cancel()
	// Closing the recipient's sockets is not enough: the session waits five minutes for it to come back.
	if err := s.DB.KillSessions(ctx, naming.AccountClone); err != nil && s.Running() {
		m.log.Error(err, "Ending clone sessions", "recipient", recipient)
	}
	m.inbox.mu.Lock()
	m.inbox.lend = nil
	m.inbox.mu.Unlock()
	m.log.Info("Clone ended", "recipient", recipient)
	m.poke()
}
