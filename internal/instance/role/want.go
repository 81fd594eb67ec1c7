// SPDX-License-Identifier: Apache-2.0

package role

import (
	"crypto/sha256"
	"encoding/hex"
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
	// base is the executed set at the time the role was taken, which every member must hold before it opens (B3).
	opened bool
	// configured is what the receiver was last told.
	configured string
	attached   bool
}

// login is what an account was set to: a changed incarnation or password ends its sessions (F4).
type login struct{ incarnation, password string }

// Barrier returns executed ∪ owned as read after the member list took effect in this process.
func (m *Memory) Barrier() (gtid.Set, bool) {
	if m.barrier == nil {
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
