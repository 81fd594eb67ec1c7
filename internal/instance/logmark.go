// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
	"github.com/keelson-dev/mysql-operator/internal/instance/marker"
)

// marksEvery is how often it is looked whether the binlog was rotated. A mark that is late only makes a scan longer.
const marksEvery = 10 * time.Second

// logsSeen is a rotation that is not marked yet.
type logsSeen struct {
	at   time.Time
	file string   // the current binlog file
	open gtid.Set // what was not complete when file was first seen as the current one
}

// markLogs moves the point from which a scan must read, once everything in the files before the current one is
// complete. A commit may wait for its acknowledgement over rotations, and only what was complete is remembered.
func (m *Manager) markLogs(ctx context.Context) {
	if time.Since(m.logs.at) < marksEvery {
		return
	}
	m.logs.at = time.Now()
	file, err := m.server.DB.BinlogFile(ctx)
	if err != nil || file == "" {
		return
	}
	// Read after the name: what is in earlier files is executed or owned by now.
	st, err := m.server.DB.Status(ctx)
	if err != nil {
		return
	}
	if file != m.logs.file {
		m.logs.file, m.logs.open = file, st.Owned
	}
	// What is neither owned nor executed any more was rolled back, and will never come (M3).
	m.logs.open = m.logs.open.Intersect(st.Owned)
	rec, _ := m.store.Get()
	if !m.logs.open.IsEmpty() || rec.Logs != nil && rec.Logs.File == file {
		return
	}
	err = m.store.Update(func(r marker.Record) (marker.Record, error) {
		r.Logs = &marker.LogMark{File: file, Executed: st.Executed.String()}
		return r, nil
	})
	if err != nil {
		m.log.Error(err, "Marking binlogs")
	}
}
