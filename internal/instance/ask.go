// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"

	"github.com/keelson-dev/mysql-operator/internal/instance/marker"
	"github.com/keelson-dev/mysql-operator/internal/mysql"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// Ask answers with what is stored and with sets read now: decisions about what may be lost are made on them, so they
// never come from a snapshot (A8).
func (m *Manager) Ask(ctx context.Context, _ *wire.AskRequest) (*wire.AskReply, error) {
	reply := &wire.AskReply{Instance: m.cfg.Instance}
	if m.quarantine != "" {
		return reply, nil
	}
	rec, found := m.store.Get()
	if !found {
		return reply, nil
	}
	reply.Marker = rec.Wire()
	if !rec.Initialized {
		return reply, nil
	}
	m.inbox.mu.Lock()
	db := m.inbox.db
	m.inbox.mu.Unlock()
	if db == nil {
		reply.Gtid = m.offlineSets(rec)
		return reply, nil
	}
	st, err := db.DB.Status(ctx)
	if err != nil {
		return reply, nil //nolint:nilerr // unknown is an answer
	}
	reply.Gtid = wireSets(st)
	if st.Channel.Receiver == mysql.ReceiverConnected {
		reply.SourceUuid = st.Channel.SourceUUID
	}
	return reply, nil
}

func wireSets(st mysql.Status) *wire.GTIDs {
	return &wire.GTIDs{
		Executed: st.Executed.String(), Received: st.Channel.Received.String(),
		Owned: st.Owned.String(), Purged: st.Purged.String(),
	}
}

// offlineSets returns the scanned set of a server that does not run; nil while it is unknown.
func (m *Manager) offlineSets(rec marker.Record) *wire.GTIDs {
	m.board.mu.Lock()
	defer m.board.mu.Unlock()
	if set := m.board.view.offline; set != nil && rec.Incarnation == m.board.view.incarnation {
		return &wire.GTIDs{Executed: set.String()}
	}
	return nil
}
