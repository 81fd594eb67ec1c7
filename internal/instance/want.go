// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"

	"github.com/keelson-dev/mysql-operator/internal/instance/marker"
	"github.com/keelson-dev/mysql-operator/internal/instance/role"
	"github.com/keelson-dev/mysql-operator/internal/mysql"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/pki"
)

func (m *Manager) passwords() passwords {
	m.inbox.mu.Lock()
	defer m.inbox.mu.Unlock()
	return m.inbox.passwords
}

// wantPrimary translates the stored order. A name that is no instance of the cluster has no account to admit.
func (m *Manager) wantPrimary(rec marker.Record) role.Primary {
	secrets := m.passwords()
	want := role.Primary{WaitFor: int(rec.Order.WaitFor), Open: rec.Order.Open}
	for _, member := range rec.Order.Members {
		ordinal, ok := naming.Ordinal(m.cfg.Cluster, member.Name)
		if !ok || member.Name == m.cfg.Instance {
			continue
		}
		want.Peers = append(want.Peers, role.Peer{
			Name: member.Name, Incarnation: member.Incarnation, Account: naming.AccountReplication(ordinal),
			Subject: pki.MySQLSubject(m.cfg.Namespace, member.Name), Password: secrets.members[member],
		})
	}
	return want
}

func (m *Manager) wantReplica(rec marker.Record) role.Replica {
	o := rec.Order
	want := role.Replica{
		Source: o.Source, Host: o.SourceHost, Port: int(o.SourcePort), Acking: o.Acking,
		Account: naming.AccountCatchup, Password: m.passwords().source, Lent: m.lent(),
		CA: m.cfg.Paths.CA(), Cert: m.cfg.Paths.Cert(), Key: m.cfg.Paths.Key(),
	}
	if o.Acking {
		ordinal, _ := naming.Ordinal(m.cfg.Cluster, m.cfg.Instance) // checked when the process started
		want.Account = naming.AccountReplication(ordinal)
		return want
	}
	if want.Password == "" {
		if c, err := m.cfg.Paths.ReadCredentials(); err == nil {
			want.Password = c.Catchup
		}
	}
	return want
}

// keepIntact notes that nothing received is missing: at once for a primary, whose binlog was synced before anybody
// heard of a transaction, for a replica when check says so (A5b).
func (m *Manager) keepIntact(rec marker.Record, check func() bool) {
	if !m.intact && check != nil && !check() {
		return
	}
	m.intact = true
	if rec.BootID == m.cfg.BootID {
		return
	}
	err := m.store.Update(func(r marker.Record) (marker.Record, error) {
		r.BootID = m.cfg.BootID
		return r, nil
	})
	if err != nil {
		m.log.Error(err, "Storing boot id")
	}
}

// receivedAll tells whether this instance holds what its source had when the receiver was first seen connected to it.
func (m *Manager) receivedAll(ctx context.Context, rec marker.Record) bool {
	if m.status.Channel.Receiver != mysql.ReceiverConnected {
		m.sourceHad = nil
		return false
	}
	if m.sourceHad == nil {
		a, err := m.peers.Ask(ctx, rec.Order.Source)
		if err != nil || !a.Known {
			return false
		}
		m.sourceHad = &a.Held
	}
	return m.status.Held().Contains(*m.sourceHad)
}
