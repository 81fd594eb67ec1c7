// SPDX-License-Identifier: Apache-2.0

package role

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
)

// Peer is another member that a primary admits.
type Peer struct {
	Name        string
	Incarnation string
	Account     string
	Subject     string // of its certificate
	Password    string // empty: as stored in mysqld
}

// Primary is what a primary is to be.
type Primary struct {
	Peers   []Peer // the member list without this instance
	WaitFor int
	Open    bool
}

// Replica is what a replica is to be.
type Replica struct {
	Source   string // instance name
	Host     string
	Port     int
	Account  string
	Password string // empty: as stored in mysqld
	Acking   bool
	// Lent tells that a clone is being taken: the applier stays stopped.
	Lent bool
	// CA, Cert and Key are what the receiver shows and verifies with.
	CA, Cert, Key string
}

// Memory is what was done in one mysqld process. It begins empty with each process.
type Memory struct {
	// admitted is what AdmitMembers was last told, by account.
	admitted map[string]login
	// listed is the member list and count that barrier belongs to.
	listed  string
	barrier *gtid.Set
	// toEvict is what was locked out and may still have sessions; nothing counts as done while it is set.
	toEvict *eviction
	// opened tells that clients were let in, after every member held the executed set (B3).
	opened bool
	// configured is what the receiver was last told.
	configured string
	// pointed tells that the receiver was told and not started since: what it says of errors is about another source.
	pointed  bool
	attached bool
	// applier and receiver are how these threads fare.
	applier, receiver trouble
}

// eviction is remembered from before the lock until a look finds nothing: an attempt that broke off in between would
// otherwise never be made again, since the account reads as locked then, while a session of it goes on to acknowledge.
type eviction struct {
	accounts []string
	// last is the id of the newest session that may have passed before the lock; 0 until it is read, once, after it.
	last uint64
}

func (m *Memory) mustEvict(accounts []string) {
	all := slices.Clone(accounts)
	if m.toEvict != nil {
		all = append(all, m.toEvict.accounts...)
	}
	slices.Sort(all)
	m.toEvict = &eviction{accounts: slices.Compact(all)}
}

// login is what an account was set to: a changed incarnation or password ends its sessions (F4).
type login struct{ incarnation, password string }

// Barrier returns executed ∪ owned as read after the member list took effect in this process.
func (m *Memory) Barrier() (gtid.Set, bool) {
	if m.barrier == nil || m.toEvict != nil {
		return gtid.Set{}, false
	}
	return *m.barrier, true
}

// Opened tells whether this process was opened to clients.
func (m *Memory) Opened() bool { return m.opened }

// Attached tells whether the receiver was connected once in this process.
func (m *Memory) Attached() bool { return m.attached }

// digest stands for a password in memory that outlives the order.
func digest(password string) string {
	if password == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}

func key(parts ...string) string { return strings.Join(parts, "\x00") }
