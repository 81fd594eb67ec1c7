// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/gtid"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/planner"
	"github.com/keelson-dev/mysql-operator/internal/resources"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// buildView maps what is known of a cluster to what the planner may know: the whole of what it decides from.
func buildView(s *scope) planner.View {
	initdb := resources.InitDB(s.cluster)
	view := planner.View{
		Now: s.now,
		Spec: planner.Spec{
			Replicas:  int(resources.Replicas(s.cluster)),
			MinInSync: int(resources.MinInSync(s.cluster)),
			Database:  initdb.Database,
			Owner:     initdb.Owner,
		},
		HA:     haToPlanner(s.ha()),
		NewUID: string(uuid.NewUUID()),
	}
	for _, name := range s.names() {
		view.Instances = append(view.Instances, viewInstance(s, name))
	}
	return view
}

func viewInstance(s *scope, name string) planner.Instance {
	ordinal, _ := naming.Ordinal(s.cluster.Name, name)
	pod := s.pods[name]
	out := planner.Instance{
		Name:    name,
		Ordinal: ordinal,
		// A pod that runs has its volume, whatever the cache says of the claim.
		PVC:      s.claims[name] != nil || pod != nil && pod.Status.PodIP != "",
		Pod:      pod != nil,
		Deleting: pod != nil && pod.DeletionTimestamp != nil,
		Obstacle: findObstacle(pod).text,
		// Only a claim that has never been bound is Pending: one whose volume was lost is Lost.
		Unbound: s.claims[name] != nil && s.claims[name].Status.Phase == corev1.ClaimPending,
	}
	if said := s.said[name]; pod != nil && said.Snapshot != nil {
		out.Report = planner.Of(toReport(said.Snapshot))
		out.Silence = max(0, s.now.Sub(said.Received))
	}
	return out
}

func toReport(s *wire.Snapshot) planner.Report {
	r := planner.Report{
		State:           toState(s.GetState()),
		Why:             s.GetWhy(),
		Offline:         s.GetOffline(),
		Intact:          s.GetIntact(),
		AppliedEpoch:    s.GetAppliedEpoch(),
		AppliedRevision: s.GetAppliedRevision(),
		Ready:           s.GetReady(),
		StopRequested:   s.GetStopRequested(),
		Lending:         s.GetLending(),
	}
	if m := s.GetMarker(); m != nil {
		r.Marker = planner.Of(toMarker(m))
	}
	if g, ok := toGTIDs(s.GetGtid()); ok {
		r.GTID = planner.Of(g)
	}
	if server := s.GetServer(); server != nil {
		r.Server = toServer(s.GetInstance(), server)
	}
	return r
}

// toState maps states by name; an unknown one (from a newer manager) becomes the empty State, which no rule matches.
func toState(s wire.State) planner.State {
	states := map[wire.State]planner.State{
		wire.State_STATE_EMPTY:        planner.StateEmpty,
		wire.State_STATE_INITIALIZING: planner.StateInitializing,
		wire.State_STATE_CLONING:      planner.StateCloning,
		wire.State_STATE_OFFLINE:      planner.StateOffline,
		wire.State_STATE_STARTING:     planner.StateStarting,
		wire.State_STATE_RUNNING:      planner.StateRunning,
		wire.State_STATE_STOPPING:     planner.StateStopping,
		wire.State_STATE_DOWN:         planner.StateDown,
		wire.State_STATE_FENCED:       planner.StateFenced,
		wire.State_STATE_QUARANTINED:  planner.StateQuarantined,
	}
	return states[s]
}

func toRole(r wire.Role) planner.Role {
	switch r {
	case wire.Role_ROLE_PRIMARY:
		return planner.RolePrimary
	case wire.Role_ROLE_REPLICA:
		return planner.RoleReplica
	case wire.Role_ROLE_FENCED:
		return planner.RoleFenced
	case wire.Role_ROLE_UNSPECIFIED:
	}
	return planner.RoleNone
}

func toMarker(m *wire.Marker) planner.Marker {
	return planner.Marker{
		ClusterUID:  m.GetClusterUid(),
		Incarnation: m.GetIncarnation(),
		Epoch:       m.GetEpoch(),
		Revision:    m.GetRevision(),
		Primary:     m.GetPrimary(),
		Role:        toRole(m.GetRole()),
		InSync:      toMembers(m.GetInSync()),
		MinInSync:   int(m.GetMinInSync()),
		Members:     toMembers(m.GetMembers()),
		WaitFor:     int(m.GetWaitFor()),
		Open:        m.GetOpen(),
		Acking:      m.GetAcking(),
		Source:      m.GetSource(),
		Initialized: m.GetInitialized(),
	}
}

func toMembers(list []*wire.Member) []planner.Member {
	var out []planner.Member
	for _, m := range list {
		out = append(out, planner.Member{Name: m.GetName(), Incarnation: m.GetIncarnation()})
	}
	return out
}

// toGTIDs reads the sets; one that cannot be read makes all of them unknown, never empty: a decision from an empty
// set would take an instance for one that has nothing.
func toGTIDs(g *wire.GTIDs) (planner.GTIDs, bool) {
	if g == nil {
		return planner.GTIDs{}, false
	}
	var out planner.GTIDs
	for _, part := range []struct {
		text string
		set  *gtid.Set
	}{
		{g.GetExecuted(), &out.Executed},
		{g.GetReceived(), &out.Received},
		{g.GetOwned(), &out.Owned},
		{g.GetPurged(), &out.Purged},
	} {
		set, err := gtid.Parse(part.text)
		if err != nil {
			return planner.GTIDs{}, false
		}
		*part.set = set
	}
	return out, true
}

func toServer(instance string, s *wire.Server) planner.Known[planner.Server] {
	barrier, err := gtid.Parse(s.GetBarrier())
	if err != nil {
		return planner.Known[planner.Server]{}
	}
	return planner.Of(planner.Server{
		StartID:           s.GetStartId(),
		ServerUUID:        s.GetServerUuid(),
		SourceEnabled:     s.GetSourceEnabled(),
		WaitFor:           int(s.GetWaitFor()),
		WaitSessions:      int(s.GetWaitSessions()),
		Open:              s.GetOpen(),
		Barrier:           barrier,
		ReplicaEnabled:    s.GetReplicaEnabled(),
		ReplicaStatus:     s.GetReplicaStatus(),
		ReceiverConnected: s.GetReceiver() == wire.ReceiverState_RECEIVER_STATE_CONNECTED,
		ApplierRunning:    s.GetApplierRunning(),
		ApplierError:      s.GetApplierError(),
		ReceiverError:     s.GetReceiverError(),
		NeedsClone:        s.GetNeedsClone(),
		Followers:         toFollowers(instance, s.GetDumpAccounts()),
		ReceiverDown:      time.Duration(s.GetReceiverDownMilliseconds()) * time.Millisecond,
	})
}

// toFollowers returns the instances whose own accounts have a dump thread on an instance. Its name tells the
// cluster's; the shared account of those that catch up tells nobody's.
func toFollowers(instance string, accounts []string) []string {
	cluster := instance[:max(0, strings.LastIndexByte(instance, '-'))]
	var out []string
	for _, account := range accounts {
		if n, ok := naming.ReplicationOrdinal(account); ok {
			out = append(out, naming.Instance(cluster, n))
		}
	}
	slices.Sort(out)
	return out
}

// haToPlanner maps the stored state.
func haToPlanner(ha mysqlv1.HAStatus) planner.HA {
	out := planner.HA{
		ClusterUID:    ha.ClusterUID,
		Bootstrapping: ha.Bootstrapping,
		Bootstrapped:  ha.Bootstrapped,
		Epoch:         ha.Epoch,
		Revision:      ha.Revision,
		Primary:       ha.Primary,
		MinInSync:     int(ha.MinInSync),
		Opened:        ha.Opened,
		Step:          ha.Step,
	}
	for _, m := range ha.InSync {
		out.InSync = append(out.InSync, planner.Member{Name: m.Name, Incarnation: m.Incarnation})
	}
	if ha.StepDeadline != nil {
		out.StepDeadline = ha.StepDeadline.Time
	}
	if ha.Reprovision != nil {
		out.Reprovision = planner.Member{Name: ha.Reprovision.Name, Incarnation: ha.Reprovision.Incarnation}
	}
	// Only the operator writes it, in canonical text; what cannot be read any more only makes fewer GTIDs known as
	// discarded, which costs a comparison, not data (ha-rules F10).
	out.Discarded, _ = gtid.Parse(ha.Discarded)
	return out
}

// haFromPlanner maps the state to store.
func haFromPlanner(ha planner.HA) mysqlv1.HAStatus {
	out := mysqlv1.HAStatus{
		ClusterUID:    ha.ClusterUID,
		Bootstrapping: ha.Bootstrapping,
		Bootstrapped:  ha.Bootstrapped,
		Epoch:         ha.Epoch,
		Revision:      ha.Revision,
		Primary:       ha.Primary,
		MinInSync:     int32(ha.MinInSync), //nolint:gosec // at most 9
		Opened:        ha.Opened,
		Step:          ha.Step,
		Discarded:     ha.Discarded.String(),
	}
	for _, m := range ha.InSync {
		out.InSync = append(out.InSync, mysqlv1.MemberStatus{Name: m.Name, Incarnation: m.Incarnation})
	}
	if !ha.StepDeadline.IsZero() {
		deadline := metaTime(ha.StepDeadline)
		out.StepDeadline = &deadline
	}
	if ha.Reprovision.Name != "" {
		out.Reprovision = &mysqlv1.MemberStatus{Name: ha.Reprovision.Name, Incarnation: ha.Reprovision.Incarnation}
	}
	return out
}

// isReady tells whether a pod is Ready.
func isReady(pod *corev1.Pod) bool {
	if pod == nil || pod.DeletionTimestamp != nil {
		return false
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
