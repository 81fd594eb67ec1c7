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
	if st.WaitSessions == 0 || !m.memory.Opened() {
		m.commits = waiting{}
		return
	}
	if executed := st.Executed.Count(); m.commits.since.IsZero() || executed != m.commits.executed {
		m.commits = waiting{since: time.Now(), executed: executed}
		return
	}
	waited := time.Since(m.commits.since)
	if st.Clients < st.WaitFor {
		m.unfreeze(ctx, waited)
		return
	}
	if waited < stuckAfter || !m.nudging.CompareAndSwap(false, true) {
		return
	}
	m.log.Info("Sending a transaction after a commit that nobody acknowledges", "waiting", st.WaitSessions)
	server := m.server
	m.tasks.Go(func() { m.nudge(ctx, server) })
}

// frozenAfter is the failure threshold: so long a server may be in a state that nobody can end.
const frozenAfter = 3 * time.Second

// unfreeze ends a deadlock: a statement about accounts waits for the acknowledgement of a replica that lost its
// connection, and while it waits nobody can log in, the replica neither (B1). Nothing but the end of the process frees
// it; the statement is committed when the server comes back, and resumes as primary when the others confirm it.
func (m *Manager) unfreeze(ctx context.Context, waited time.Duration) {
	if waited < frozenAfter || !m.server.DB.Frozen(ctx) {
		return
	}
	m.log.Info("Killing mysqld: a commit waits for a replica that cannot log in, since nobody can", "waited", waited.String())
	if err := m.server.Kill(); err != nil {
		m.log.Error(err, "Killing mysqld")
	}
}

func (m *Manager) nudge(ctx context.Context, s *mysqld.Server) {
	defer m.nudging.Store(false)
	if err := s.DB.Nudge(ctx); err != nil && s.Running() {
		m.log.Error(err, "Sending a transaction after a commit that nobody acknowledges")
	}
}
