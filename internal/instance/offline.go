// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
	"github.com/keelson-dev/mysql-operator/internal/instance/layout"
	"github.com/keelson-dev/mysql-operator/internal/instance/marker"
	"github.com/keelson-dev/mysql-operator/internal/mysql/binlog"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// offlineScan is what the files of a stopped server hold.
type offlineScan struct {
	finished chan struct{}
	started  time.Time
	told     bool // the loop has published it once
	// Valid once finished is closed.
	binlog      gtid.Set  // all that the binlogs speak of
	substantial gtid.Set  // of these, what a restart must not lose
	set         *gtid.Set // base ∪ binlog ∪ relay log; nil while it cannot be told (F12)
	err         error
}

// startScan reads the files on another goroutine: gigabytes take seconds, and orders are answered meanwhile.
func startScan(p layout.Paths, rec marker.Record, finished func()) *offlineScan {
	s := &offlineScan{finished: make(chan struct{}), started: time.Now()}
	go func() {
		s.read(p, rec)
		close(s.finished)
		finished()
	}()
	return s
}

// rescanEvery is how often a scan that ended with an error is made again: the volume may come back.
const rescanEvery = 10 * time.Second

// scan keeps the scan of a server that does not run.
func (m *Manager) scan(rec marker.Record) {
	s := m.offline
	if s == nil || (s.done() && s.err != nil && time.Since(s.started) >= rescanEvery) {
		m.offline = startScan(m.cfg.Paths, rec, m.poke)
	}
}

func (s *offlineScan) done() bool {
	select {
	case <-s.finished:
		return true
	default:
		return false
	}
}

func (s *offlineScan) read(p layout.Paths, rec marker.Record) {
	if s.err = s.readBinlogs(p, rec); s.err != nil {
		return
	}
	relay, err := binlog.ScanRelay(p.RelayIndex())
	if err != nil {
		s.err = err
		return
	}
	if rec.Base == nil {
		return
	}
	base, err := gtid.Parse(*rec.Base)
	if err != nil {
		s.err = fmt.Errorf("read base set: %w", err)
		return
	}
	all := base.Union(s.binlog).Union(relay.Found)
	s.set = &all
}

func (s *offlineScan) readBinlogs(p layout.Paths, rec marker.Record) error {
	mark := marker.LogMark{}
	if rec.Logs != nil {
		mark = *rec.Logs
	}
	r, err := binlog.ScanFrom(p.BinlogIndex(), mark.File)
	if err != nil {
		return err
	}
	before, err := gtid.Parse(mark.Executed)
	if err != nil {
		return fmt.Errorf("read log mark: %w", err)
	}
	s.binlog, s.substantial = r.All().Union(before), r.Substantial
	return nil
}

// recovery is what must be true of a primary's server after an unclean stop, before it takes its role (A2).
type recovery struct {
	// binlog and substantial are as in offlineScan.
	binlog, substantial gtid.Set
	// fill are GTIDs that the server has forgotten; it runs with a new server_uuid already.
	fill []string
}

// maxFill bounds the empty transactions; more than that is no tail but a damage.
const maxFill = 10000

// recoverStep checks that the server knows every GTID its binlogs hold, and repairs it where that is possible. It
// returns true once the server may take its role.
//
// A statement without an InnoDB transaction (ANALYZE TABLE) can be in the binlog, and on a replica, and after a crash
// not in gtid_executed: its number would be given out again, and the replica would skip what is written under it.
func (m *Manager) recoverStep(ctx context.Context) bool {
	missing := m.recovery.binlog.Subtract(m.status.Executed)
	switch {
	case missing.IsEmpty():
		m.recovery = nil
		return true
	case m.recovery.fill != nil:
		m.fill(ctx)
		return false
	}
	if lost := missing.Intersect(m.recovery.substantial); !lost.IsEmpty() {
		m.fence = fmt.Sprintf("after a crash the server lacks transactions that its binlog holds: %s; it must be cloned", lost)
		return false
	}
	one, ok := enumerate(missing, maxFill)
	if !ok {
		m.fence = fmt.Sprintf("after a crash the server lacks %d transactions that its binlog holds; it must be cloned", missing.Count())
		return false
	}
	m.renew(ctx, one)
	return false
}

// renew starts the server again under a new server_uuid, before the missing numbers are filled: replicas that hold
// what they stood for must never see other transactions under the same UUID (A1).
func (m *Manager) renew(ctx context.Context, missing []string) {
	m.log.Info("Taking a new server_uuid: the binlog holds transactions that the server forgot", "gtid", strings.Join(missing, ","))
	if err := m.stopServer(ctx); err != nil {
		m.log.Error(err, "Stopping mysqld")
		return
	}
	next := *m.recovery
	m.forget()
	m.inbox.mu.Lock()
	m.inbox.confirmed = true // it was, and the process ended by our own hand
	m.inbox.mu.Unlock()
	var rec marker.Record
	err := m.store.Update(func(r marker.Record) (marker.Record, error) {
		r.UUIDs++
		rec = r
		return r, nil
	})
	if err == nil {
		err = m.launch(rec)
	}
	if err != nil {
		m.become(wire.State_STATE_DOWN, err.Error())
		return
	}
	next.fill = missing
	m.recovery = &next
}

func (m *Manager) fill(ctx context.Context) {
	// Each call fills for a while only: those that are there already are left out, or it would not get beyond them.
	left := slices.DeleteFunc(slices.Clone(m.recovery.fill), func(one string) bool {
		set, err := gtid.Parse(one)
		return err == nil && m.status.Executed.Contains(set)
	})
	if err := m.server.DB.FillEmpty(ctx, left); err != nil {
		m.why = err.Error()
		m.log.Error(err, "Filling forgotten transactions")
	}
}

// enumerate writes a set as single GTIDs; ok is false when there are more than limit.
func enumerate(set gtid.Set, limit int64) (out []string, ok bool) {
	if set.Count() > limit {
		return nil, false
	}
	for member := range strings.SplitSeq(set.String(), ",") {
		uuid, rest, _ := strings.Cut(member, ":")
		prefix := uuid
		for part := range strings.SplitSeq(rest, ":") {
			low, high, isRange := strings.Cut(part, "-")
			first, err := strconv.ParseInt(low, 10, 64)
			if err != nil {
				prefix = uuid + ":" + part // a tag
				continue
			}
			last := first
			if isRange {
				last, _ = strconv.ParseInt(high, 10, 64) // canonical text
			}
			for n := first; n <= last; n++ {
				out = append(out, prefix+":"+strconv.FormatInt(n, 10))
			}
		}
	}
	return out, true
}
