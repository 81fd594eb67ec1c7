// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"slices"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
)

// Known is a fact that may not have been observed. Unknown is not false: nothing is decided from silence alone.
type Known[T any] struct {
	value T
	ok    bool
}

// Of returns a known fact.
func Of[T any](value T) Known[T] { return Known[T]{value: value, ok: true} }

// Get returns the fact, and whether it is known.
func (k Known[T]) Get() (value T, known bool) { return k.value, k.ok }

// View is all that Plan may know about one cluster at one instant.
type View struct {
	// Now is the one "now" of this pass.
	Now  time.Time
	Spec Spec
	HA   HA
	// NewUID is a fresh random cluster UID, used only if the decision bootstraps: randomness comes in as a value.
	NewUID string
	// Instances are those that the spec asks for and every other one of which a PVC or pod exists, by ordinal.
	Instances []Instance
}

// Spec is what the planner needs of the user's wish.
type Spec struct {
	Replicas  int
	MinInSync int // in force: the default is resolved
	Database  string
	Owner     string
}

// HA is the persisted state (status.ha), written only by compare-and-swap.
type HA struct {
	ClusterUID    string
	Bootstrapping string
	Bootstrapped  bool
	Epoch         int64
	Revision      int64
	Primary       string
	InSync        []Member
	MinInSync     int
	Opened        bool
	Step          string
	StepDeadline  time.Time
	// Reprovision is the one incarnation that may be replaced by a clone now.
	Reprovision Member
	Discarded   gtid.Set
}

// Member is one incarnation of an instance.
type Member struct {
	Name        string
	Incarnation string
}

// Clone returns a deep copy.
func (h HA) Clone() HA {
	h.InSync = slices.Clone(h.InSync)
	return h
}

// Instance is what is known of one instance.
type Instance struct {
	Name    string
	Ordinal int
	// PVC and Pod tell whether these objects exist; Deleting that the pod has a deletion timestamp.
	PVC, Pod, Deleting bool
	// Unbound tells that the PVC was never bound to a volume, and so cannot hold data.
	Unbound bool
	// Obstacle says why the pod cannot report (image pull, scheduling, crash loop), in the kubelet's or the
	// scheduler's words; empty when nothing is known to be wrong.
	Obstacle string
	// Report is the newest snapshot of the instance's state stream; unknown when there is none from the pod
	// that exists now.
	Report Known[Report]
	// Silence is the time since the stream said anything.
	Silence time.Duration
}

// State mirrors wire.State.
type State string

// States of an instance, as wire.State explains them.
const (
	StateEmpty        State = "Empty"
	StateInitializing State = "Initializing"
	StateCloning      State = "Cloning"
	StateOffline      State = "Offline"
	StateStarting     State = "Starting"
	StateRunning      State = "Running"
	StateStopping     State = "Stopping"
	StateDown         State = "Down"
	StateFenced       State = "Fenced"
	StateQuarantined  State = "Quarantined"
)

// Role is what an instance is to be.
type Role string

// Roles.
const (
	RoleNone    Role = ""
	RolePrimary Role = "Primary"
	RoleReplica Role = "Replica"
	RoleFenced  Role = "Fenced"
)

// Report is what an instance says of itself.
type Report struct {
	State   State
	Why     string
	Marker  Known[Marker]
	GTID    Known[GTIDs]
	Offline bool // GTID comes from an offline scan
	Server  Known[Server]
	Intact  bool
	// Applied is the (epoch, revision) of the stored order once it is fully in effect in the running mysqld, else 0.
	AppliedEpoch, AppliedRevision int64
	Ready, StopRequested, Lending bool
}

// Marker is what an instance has stored durably.
type Marker struct {
	ClusterUID  string
	Incarnation string
	Epoch       int64
	Revision    int64
	Primary     string
	Role        Role
	InSync      []Member
	MinInSync   int
	Members     []Member
	WaitFor     int
	Open        bool
	Acking      bool
	Source      string
	Initialized bool
}

// GTIDs are the sets of an instance.
type GTIDs struct {
	Executed, Received, Owned, Purged gtid.Set
}

// Held returns what the instance has, applied or not.
func (g GTIDs) Held() gtid.Set { return g.Executed.Union(g.Received) }

// Server is what the running mysqld says.
type Server struct {
	StartID       string
	ServerUUID    string
	SourceEnabled bool
	WaitFor       int
	WaitSessions  int
	Open          bool
	// Barrier is executed ∪ owned, read once after the applied member list took effect.
	Barrier           gtid.Set
	ReplicaEnabled    bool
	ReplicaStatus     bool
	ReceiverConnected bool
	ApplierRunning    bool
	ApplierError      string
	ReceiverError     string
	NeedsClone        bool
	// Followers are the instances whose own replication account has a dump thread here, sorted.
	Followers []string
	// ReceiverDown is how long the receiver has not been connected; 0 while it is.
	ReceiverDown time.Duration
}
