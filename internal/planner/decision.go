// SPDX-License-Identifier: Apache-2.0

package planner

import "time"

// Reason names a problem of the table; the API's conditions, events and metrics use the same text.
type Reason string

// OrderKind is the kind of an order.
type OrderKind string

// Kinds of orders, as internal/wire explains them.
const (
	OrderInitialize OrderKind = "Initialize"
	OrderClone      OrderKind = "Clone"
	OrderSetRole    OrderKind = "SetRole"
)

// Order is one order to one instance. It is sent with the (cluster UID, epoch, revision, primary) of the persisted
// HA. Which fields count depends on Kind.
type Order struct {
	Kind     OrderKind
	Instance string

	// Initialize.
	Database, Owner string

	// Clone.
	Donor       string
	Reprovision string // incarnation whose data may be replaced; empty for an empty instance

	// SetRole.
	Role      Role
	InSync    []Member
	MinInSync int
	Members   []Member // primary only
	WaitFor   int      // primary only
	Open      bool     // primary only
	// Replaces and ReplacesWaitFor are the list and count that the order was decided from; primary only.
	Replaces        []Member
	ReplacesWaitFor int
	Source          string // replica only
	Acking          bool   // replica only
}

// Decision is what to persist, which orders to send, and why.
type Decision struct {
	Reason Reason
	// Because are the facts that convinced the planner, sorted; the same View gives the same text.
	Because []string
	// Persist is the HA to write by compare-and-swap (the writer raises Revision). When it is set there are no
	// orders: the next pass sends them, from the state that was stored.
	Persist *HA
	Orders  []Order
	// Refused tells for each instance why it was not used.
	Refused map[string]string
	// Wait is when to look again although nothing changed; 0: when something changes.
	Wait time.Duration
	// Available and Progressing are the planner's word for the conditions.
	Available   Known[bool]
	Progressing bool
}
