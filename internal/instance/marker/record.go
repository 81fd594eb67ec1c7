// SPDX-License-Identifier: Apache-2.0

package marker

import (
	"slices"

	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// Member is one incarnation of an instance.
type Member struct {
	Name        string `json:"name"`
	Incarnation string `json:"incarnation"`
}

// Order is what the instance was last told to be. It holds no password: those live in mysqld and in memory only.
type Order struct {
	Epoch    int64  `json:"epoch"`
	Revision int64  `json:"revision"`
	Primary  string `json:"primary,omitempty"`

	Role      wire.Role `json:"role,omitempty"`
	InSync    []Member  `json:"inSync,omitempty"`
	MinInSync int32     `json:"minInSync,omitempty"`

	Members []Member `json:"members,omitempty"`
	WaitFor int32    `json:"waitFor,omitempty"`
	Open    bool     `json:"open,omitempty"`

	Source     string `json:"source,omitempty"`
	SourceHost string `json:"sourceHost,omitempty"`
	SourcePort int32  `json:"sourcePort,omitempty"`
	Acking     bool   `json:"acking,omitempty"`
}

// LogMark says that every transaction in the binlog files before File was complete, and in Executed, which was read
// afterwards. A scan then begins with File: after a crash nothing before it can have been forgotten unnoticed (A2), and
// a week of binlogs is not read before a primary may start.
type LogMark struct {
	File     string `json:"file"`
	Executed string `json:"executed"`
}

// Record is the whole content of the marker.
type Record struct {
	ClusterUID string `json:"clusterUID,omitempty"`
	// Incarnation is made whenever a datadir is created or cloned. It is set from the moment the work begins.
	Incarnation string `json:"incarnation,omitempty"`
	// Initialized is true once the datadir is complete; until then everything in it is a leftover (I3).
	Initialized bool `json:"initialized,omitempty"`
	// Order is the last accepted order.
	Order Order `json:"order"`

	// Base is gtid_executed less what the binlogs say, taken at the end of the first start of a datadir: after a
	// clone the whole past is in InnoDB's table only (F12). Absent: the set cannot be told without a server.
	Base *string `json:"base,omitempty"`
	// Logs is a point up to which the binlogs need not be read (see LogMark); absent: they are read from the beginning.
	Logs *LogMark `json:"logs,omitempty"`
	// UUIDs counts the server_uuids of this incarnation (A1, F6): the last eight hexadecimal digits of the current.
	UUIDs uint32 `json:"uuids,omitempty"`
	// BootID is the kernel's at the time from which on what was received is known to be complete (A5b).
	BootID string `json:"bootID,omitempty"`
	// Clean is true between a clean stop of mysqld (with a sync of the volume) and its next start (M4).
	Clean bool `json:"clean,omitempty"`
}

// Clone returns a deep copy.
func (r Record) Clone() Record {
	r.Order.InSync = slices.Clone(r.Order.InSync)
	r.Order.Members = slices.Clone(r.Order.Members)
	if r.Base != nil {
		base := *r.Base
		r.Base = &base
	}
	if r.Logs != nil {
		logs := *r.Logs
		r.Logs = &logs
	}
	return r
}

// Wire returns what others are told of the record.
func (r Record) Wire() *wire.Marker {
	o := r.Order
	return &wire.Marker{
		ClusterUid: r.ClusterUID, Incarnation: r.Incarnation, Initialized: r.Initialized,
		Epoch: o.Epoch, Revision: o.Revision, Primary: o.Primary, Role: o.Role,
		InSync: wireMembers(o.InSync), MinInSync: o.MinInSync,
		Members: wireMembers(o.Members), WaitFor: o.WaitFor, Open: o.Open,
		Acking: o.Acking, Source: o.Source,
	}
}

// WithRole returns the record after a role order, which must have been accepted.
func (r Record) WithRole(o *wire.RoleOrder) Record {
	r = r.withHeader(o.GetOrder())
	r.Order = Order{
		Epoch: r.Order.Epoch, Revision: r.Order.Revision, Primary: r.Order.Primary, Role: o.GetRole(),
		InSync: members(o.GetInSync()), MinInSync: o.GetMinInSync(),
	}
	switch o.GetRole() {
	case wire.Role_ROLE_PRIMARY:
		r.Order.Members, r.Order.WaitFor, r.Order.Open = members(o.GetMembers()), o.GetWaitFor(), o.GetOpen()
	case wire.Role_ROLE_REPLICA:
		r.Order.Source, r.Order.SourceHost, r.Order.SourcePort = o.GetSource(), o.GetSourceHost(), o.GetSourcePort()
		r.Order.Acking = o.GetAcking()
	case wire.Role_ROLE_FENCED, wire.Role_ROLE_UNSPECIFIED:
	}
	return r
}

// WithNewData returns the record at the beginning of Initialize or Clone: what was there is given up, and nothing
// is complete yet.
func (r Record) WithNewData(o *wire.Order, incarnation string) Record {
	r = r.withHeader(o)
	// Of the order only the numbers: an in-sync list from before, under the newest revision, would pass for the newest.
	r.Order = Order{Epoch: r.Order.Epoch, Revision: r.Order.Revision, Primary: r.Order.Primary}
	r.Incarnation, r.Initialized, r.Base, r.Logs, r.UUIDs, r.BootID, r.Clean = incarnation, false, nil, nil, 0, "", false
	return r
}

func (r Record) withHeader(o *wire.Order) Record {
	r = r.Clone()
	r.ClusterUID = o.GetClusterUid()
	r.Order.Epoch, r.Order.Revision, r.Order.Primary = o.GetEpoch(), o.GetRevision(), o.GetPrimary()
	return r
}

func members(list []*wire.Member) []Member {
	var out []Member
	for _, m := range list {
		out = append(out, Member{Name: m.GetName(), Incarnation: m.GetIncarnation()})
	}
	return out
}

func wireMembers(list []Member) []*wire.Member {
	var out []*wire.Member
	for _, m := range list {
		out = append(out, &wire.Member{Name: m.Name, Incarnation: m.Incarnation})
	}
	return out
}
