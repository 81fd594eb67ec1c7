// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/instance/mysqld"
)

// stuckAfter is how long a commit waits, without any progress and with everybody connected who must acknowledge,
// until a transaction is sent after it.
const stuckAfter = 200 * time.Millisecond

// waiting is a primary whose commits make no progress.
type waiting struct {
	since    time.Time
	executed int64
}

// unstick frees a commit that everybody holds and nobody acknowledges. A replica that received a transaction while it
// did not acknowledge yet (it was catching up, or its connection broke in between) does not get it again when it
// reconnects, since it asks by GTID; so it never acknowledges it, and with a single writer nothing ever follows that it
// could acknowledge instead. Seen on MySQL 9.7.4 as a writer that hung for ever after a replica joined.
//
// Acknowledgements are positions, so one for any later transaction frees all before it; the statement sent is logged
// and changes nothing. There is at most one at a time: where a replica is merely slow, it waits like the others.
func (m *Manager) unstick(ctx context.Context) {
	st := m.status
	if st.WaitSessions == 0 || st.Clients < st.WaitFor || !m.memory.Opened() {
		m.commits = waiting{}
		return
	}
	if executed := st.Executed.Count(); m.commits.since.IsZero() || executed != m.commits.executed {
		m.commits = waiting{since: time.Now(), executed: executed}
		return
	}
	if time.Since(m.commits.since) < stuckAfter || !m.nudging.CompareAndSwap(false, true) {
		return
	}
	m.log.Info("Sending a transaction after a commit that nobody acknowledges", "waiting", st.WaitSessions)
	server := m.server
	m.tasks.Go(func() { m.nudge(ctx, server) })
}

func (m *Manager) nudge(ctx context.Context, s *mysqld.Server) {
	defer m.nudging.Store(false)
	if err := s.DB.Nudge(ctx); err != nil && s.Running() {
		m.log.Error(err, "Sending a transaction after a commit that nobody acknowledges")
	}
}
