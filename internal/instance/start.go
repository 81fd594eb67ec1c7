// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/instance/marker"
	"github.com/keelson-dev/mysql-operator/internal/instance/mysqld"
	"github.com/keelson-dev/mysql-operator/internal/instance/role"
	"github.com/keelson-dev/mysql-operator/internal/mysql"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// peersEvery is how often the peers are asked whether the primary may resume.
const peersEvery = time.Second

// startStep starts mysqld when it may. A replica starts at once: it comes up closed and follows only whom it is told
// to. A primary is scanned first, and starts when the operator or all the peers confirm the role.
func (m *Manager) startStep(ctx context.Context, rec marker.Record) {
	if wait := time.Until(m.notBefore); wait > 0 {
		m.become(wire.State_STATE_DOWN, "mysqld ended and is started again"+m.lastWords)
		return
	}
	if rec.Order.Role == wire.Role_ROLE_PRIMARY && !m.mayResume(ctx, rec) {
		return
	}
	if err := m.start(rec); err != nil {
		m.become(wire.State_STATE_DOWN, err.Error())
		m.log.Error(err, "Starting mysqld")
		m.notBefore = time.Now().Add(m.backoff.After(0))
	}
}

// mayResume tells whether a primary's mysqld may start now.
func (m *Manager) mayResume(ctx context.Context, rec marker.Record) bool {
	m.scan(rec)
	if rec.Clean && m.isConfirmed() {
		return true
	}
	if !m.offline.done() {
		m.become(wire.State_STATE_OFFLINE, "reading what the logs hold")
		return false
	}
	if !rec.Clean && m.offline.err != nil {
		m.become(wire.State_STATE_OFFLINE, m.offline.err.Error())
		return false
	}
	if !m.offline.told {
		// Everybody hears the set before anything is done with it: asking the peers may take seconds.
		m.offline.told = true
		m.become(wire.State_STATE_OFFLINE, "")
		m.poke()
		return false
	}
	if m.isConfirmed() {
		return true
	}
	if time.Since(m.peersAsk) < peersEvery {
		return false
	}
	m.peersAsk = time.Now()
	if why := m.peersRefuse(ctx, rec); why != "" {
		m.become(wire.State_STATE_OFFLINE, "waiting for the operator, or for every member to confirm the role: "+why)
		return false
	}
	m.log.Info("Resuming as primary: every member confirmed it")
	return true
}

func (m *Manager) isConfirmed() bool {
	m.inbox.mu.Lock()
	defer m.inbox.mu.Unlock()
	return m.inbox.confirmed
}

// peersRefuse asks all other members of the stored list; an empty answer means that all of them confirm.
func (m *Manager) peersRefuse(ctx context.Context, rec marker.Record) string {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var missing []string
	for _, member := range rec.Order.Members {
		if member.Name == m.cfg.Instance {
			continue
		}
		wg.Go(func() {
			if why := m.peerRefuses(ctx, rec, member); why != "" {
				mu.Lock()
				defer mu.Unlock()
				missing = append(missing, member.Name+" "+why)
			}
		})
	}
	wg.Wait()
	slices.Sort(missing)
	return strings.Join(missing, "; ")
}

func (m *Manager) peerRefuses(ctx context.Context, rec marker.Record, member marker.Member) string {
	reply, err := m.peers.Raw(ctx, member.Name)
	if err != nil {
		return "does not answer"
	}
	return confirms(rec, member, reply.GetMarker())
}

// confirms tells why what a peer has stored does not confirm that this instance is still the primary; empty when it
// does. An instance that has stored nothing confirms nothing.
func confirms(rec marker.Record, member marker.Member, peer *wire.Marker) string {
	switch {
	case peer == nil || peer.GetEpoch() == 0:
		return "has stored no order"
	case peer.GetClusterUid() != rec.ClusterUID:
		return "belongs to another cluster"
	case peer.GetIncarnation() != member.Incarnation || !peer.GetInitialized():
		return "is another incarnation"
	case marker.Compare(peer.GetEpoch(), peer.GetRevision(), rec.Order.Epoch, rec.Order.Revision) > 0:
		return "has stored a newer order"
	}
	return ""
}

// start starts mysqld on the datadir.
func (m *Manager) start(rec marker.Record) error {
	primary := rec.Order.Role == wire.Role_ROLE_PRIMARY
	reset := rec.BootID != m.cfg.BootID
	intact := primary || rec.Clean || !reset
	// What was begun for an earlier server is not for this one; and it begins only when there is one.
	m.recovery = nil
	var check *recovery
	if primary && !rec.Clean {
		check = &recovery{binlog: m.offline.binlog, substantial: m.offline.substantial}
	}
	next := rec
	err := m.store.Update(func(r marker.Record) (marker.Record, error) {
		r.Clean = false
		if intact {
			r.BootID = m.cfg.BootID
		}
		// After a node reset nothing is known of what this server handed out last (A1).
		if primary && !rec.Clean && reset {
			r.UUIDs++
		}
		next = r
		return r, nil
	})
	if err != nil {
		return err
	}
	m.intact = intact
	if err := m.launch(next); err != nil {
		return err
	}
	m.recovery = check
	return nil
}

func (m *Manager) launch(rec marker.Record) error {
	s, err := m.launcher.Start(mysqld.Identity{Incarnation: rec.Incarnation, UUIDs: rec.UUIDs})
	if err != nil {
		return err
	}
	m.log.Info("Starting mysqld", "pid", s.PID(), "startID", s.StartID)
	m.take(s)
	m.become(wire.State_STATE_STARTING, "")
	return nil
}

// take makes s the server of this instance.
func (m *Manager) take(s *mysqld.Server) {
	m.server, m.answering, m.memory, m.applied = s, false, &role.Memory{}, nil
	m.offline, m.logs, m.status = nil, logsSeen{}, mysql.Status{}
}

// noticeEnd takes in that mysqld has ended. Whoever confirmed a primary did so for a server that was there.
func (m *Manager) noticeEnd() {
	if m.server == nil || m.server.Running() {
		return
	}
	ran := time.Since(m.server.Started)
	m.log.Info("mysqld ended", "how", fmt.Sprint(m.server.Err()), "after", ran.String())
	m.lastWords = ""
	if text := m.server.LastError(); text != "" {
		m.lastWords = "; its last error was: " + text
	}
	m.forget()
	m.notBefore = time.Now().Add(m.backoff.After(ran))
	m.restarts++
}

// forget drops what belongs to a process that has ended.
func (m *Manager) forget() {
	m.setDB(nil)
	_ = m.server.DB.Close() // its server is gone
	m.server, m.answering, m.memory, m.applied, m.recovery = nil, false, nil, nil, nil
	m.inbox.mu.Lock()
	m.inbox.confirmed = false
	m.inbox.mu.Unlock()
	m.removeInitFile()
}

func (m *Manager) setDB(s *mysqld.Server) {
	m.inbox.mu.Lock()
	defer m.inbox.mu.Unlock()
	m.inbox.db = s
}

// removeInitFile removes the passwords that mysqld has read.
func (m *Manager) removeInitFile() {
	if err := os.Remove(m.cfg.Paths.InitFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		m.log.Error(err, "Removing init file")
	}
}
