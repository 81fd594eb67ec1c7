// SPDX-License-Identifier: Apache-2.0

package plannertest

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
	"github.com/keelson-dev/mysql-operator/internal/planner"
)

// World is one cluster. Its exported fields may be set by a test before and between steps.
type World struct {
	Spec      planner.Spec
	HA        planner.HA
	Instances []*Instance
	Now       time.Time
	// Acked are the transactions that a client was told are committed.
	Acked gtid.Set

	ids int
}

// Instance is one modelled instance.
type Instance struct {
	Name    string
	Ordinal int
	PVC     bool
	Pod     bool
	// Cut: nothing of it reaches the operator.
	Cut bool
	// Unlinked: its receiver cannot reach any source.
	Unlinked bool
	Intact   bool
	// NeedsClone: every source has purged what it lacks.
	NeedsClone bool

	State     planner.State
	Marker    *planner.Marker
	Stopping  bool
	confirmed bool

	Executed, Received, Owned gtid.Set

	startID        int
	appliedE       int64
	appliedR       int64
	appliedMembers []planner.Member
	appliedK       int
	barrier        gtid.Set
	open           bool
	sending        string // source the receiver is connected to
	acking         bool
	banked         map[string]gtid.Set // by acker: what it acknowledged to this process
	number         int64
	cloneFrom      string
	cloneStage     int
}

// New makes a world of n empty instances.
func New(n, minInSync int) *World {
	w := &World{
		Spec: planner.Spec{Replicas: n, MinInSync: minInSync, Database: "app", Owner: "app"},
		Now:  time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	w.Grow(n)
	return w
}

// Grow raises the number of instances.
func (w *World) Grow(n int) {
	w.Spec.Replicas = n
	for o := len(w.Instances); o < n; o++ {
		w.Instances = append(w.Instances, &Instance{
			Name: "c-" + strconv.Itoa(o), Ordinal: o, PVC: true, Pod: true, Intact: true, State: planner.StateEmpty,
		})
	}
}

// Get returns an instance by name; it panics for a name that does not exist.
func (w *World) Get(name string) *Instance {
	i := slices.IndexFunc(w.Instances, func(i *Instance) bool { return i.Name == name })
	return w.Instances[i]
}

func (w *World) id() string {
	w.ids++
	return "inc" + strconv.Itoa(w.ids)
}

// View is what the planner may know now.
func (w *World) View() planner.View {
	v := planner.View{Now: w.Now, Spec: w.Spec, HA: w.HA.Clone(), NewUID: "uid-" + strconv.Itoa(w.ids)}
	for _, i := range w.Instances {
		pi := planner.Instance{Name: i.Name, Ordinal: i.Ordinal, PVC: i.PVC, Pod: i.Pod}
		if i.Pod && !i.Cut {
			pi.Report = planner.Of(w.report(i))
		} else {
			pi.Silence = time.Minute
		}
		v.Instances = append(v.Instances, pi)
	}
	return v
}

func (w *World) report(i *Instance) planner.Report {
	r := planner.Report{
		State: i.State, Intact: i.Intact, StopRequested: i.Stopping,
		AppliedEpoch: i.appliedE, AppliedRevision: i.appliedR, Ready: i.State == planner.StateRunning,
	}
	if i.Marker != nil {
		r.Marker = planner.Of(*i.Marker)
		r.GTID = planner.Of(planner.GTIDs{Executed: i.Executed, Received: i.Received, Owned: i.Owned})
		r.Offline = i.State != planner.StateRunning
	}
	if i.State == planner.StateRunning {
		s := planner.Server{
			NeedsClone: i.NeedsClone, SourceEnabled: i.appliedK > 0,
			StartID: strconv.Itoa(i.startID), Open: i.open, Barrier: i.barrier, WaitFor: i.appliedK,
			ReplicaEnabled: i.acking, ReplicaStatus: i.acking && i.sending != "", ReceiverConnected: i.sending != "", ApplierRunning: true,
		}
		if i.sending == "" {
			s.ReceiverDown = time.Minute
		}
		for _, o := range w.Instances {
			if o.sending == i.Name && o.acking {
				s.Followers = append(s.Followers, o.Name)
			}
		}
		r.Server = planner.Of(s)
	}
	return r
}

// Plan plans once and carries the decision out: the write first, or the orders. It returns the decision, and an
// error when the decision breaks an invariant.
func (w *World) Plan() (planner.Decision, error) {
	v := w.View()
	d := planner.Plan(v)
	if err := planner.Check(v, d); err != nil {
		return d, err
	}
	if d.Persist != nil {
		w.HA = d.Persist.Clone()
		w.HA.Revision++
		return d, w.CheckLedger()
	}
	for _, o := range d.Orders {
		w.Deliver(o)
	}
	return d, nil
}

// CheckLedger is I1: every member of the persisted in-sync set holds every acknowledged write.
func (w *World) CheckLedger() error {
	if !w.HA.Opened {
		return nil
	}
	for _, m := range w.HA.InSync {
		i := w.Get(m.Name)
		if i.Marker == nil || i.Marker.Incarnation != m.Incarnation {
			continue // gone with its volume: a failure, not a lie
		}
		if lacks := w.Acked.Subtract(i.Executed.Union(i.Received)); i.Intact && !lacks.IsEmpty() {
			return fmt.Errorf("I1: %s is in the in-sync set and lacks acknowledged %s", i.Name, lacks)
		}
	}
	return nil
}

// Converge plans and lets every instance act until nothing changes, at most rounds times.
func (w *World) Converge(rounds int) (planner.Decision, error) {
	var d planner.Decision
	for range rounds {
		var err error
		if d, err = w.Plan(); err != nil {
			return d, err
		}
		for _, i := range w.Instances {
			w.Act(i)
		}
		if err := w.CheckLedger(); err != nil {
			return d, err
		}
		w.Now = w.Now.Add(time.Second)
		if d.Reason == planner.ReasonHealthy && d.Persist == nil && len(d.Orders) == 0 {
			return d, nil
		}
	}
	return d, nil
}
