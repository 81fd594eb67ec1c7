// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"errors"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/gtid"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/planner"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// fine are the facts of a cluster of three with nothing wrong.
func fine() facts {
	return facts{
		replicas: 3, ready: 3, minInSync: 2, why: map[string]string{},
		ha: mysqlv1.HAStatus{
			Bootstrapped: true, Opened: true, Primary: "c-0", Epoch: 1,
			InSync: []mysqlv1.MemberStatus{{Name: "c-0"}, {Name: "c-1"}, {Name: "c-2"}},
		},
		decision: planner.Decision{Reason: planner.ReasonHealthy, Available: planner.Of(true)}, planned: true,
	}
}

func TestConditionsSayWhatTheirContractsSay(t *testing.T) {
	tests := map[string]struct {
		change func(*facts)
		phase  string
		want   map[mysqlv1.ConditionType]string // only those that differ from all being well
	}{
		"nothing is wrong": {func(*facts) {}, phaseRunning, nil},
		"nothing has data yet": {
			func(f *facts) {
				f.ha, f.ready, f.notReady = mysqlv1.HAStatus{}, 0, []string{"c-0"}
				f.decision = planner.Decision{Reason: "WaitingForInstances", Available: planner.Of(false), Progressing: true}
			},
			phasePending,
			map[mysqlv1.ConditionType]string{
				"Ready": "False WaitingForInstances", "Available": "False WaitingForInstances", "Durable": "Unknown NotBootstrapped",
				"Progressing": "True WaitingForInstances", "Degraded": "True NotBootstrapped",
			},
		},
		"the first data is made": {
			func(f *facts) {
				f.ha = mysqlv1.HAStatus{Bootstrapping: "c-0", Epoch: 1}
				f.decision = planner.Decision{Reason: "Bootstrapping", Available: planner.Of(false), Progressing: true}
			},
			phaseInitializing,
			map[mysqlv1.ConditionType]string{
				"Ready": "False Bootstrapping", "Available": "False Bootstrapping", "Durable": "Unknown NotBootstrapped",
				"Progressing": "True Bootstrapping", "Degraded": "True NotBootstrapped",
			},
		},
		"the primary is down": {
			func(f *facts) {
				f.decision = planner.Decision{Reason: "PrimaryDown", Available: planner.Of(false), Progressing: true}
			},
			phaseUnavailable,
			map[mysqlv1.ConditionType]string{
				"Ready": "False PrimaryDown", "Available": "False PrimaryDown", "Progressing": "True PrimaryDown",
			},
		},
		"the primary does not answer": {
			func(f *facts) { f.decision = planner.Decision{Reason: "PrimaryUnreachable"} },
			phaseUnavailable,
			map[mysqlv1.ConditionType]string{
				"Ready": "False PrimaryUnreachable", "Available": "Unknown PrimaryUnreachable", "Progressing": "False PrimaryUnreachable",
			},
		},
		"one is in sync where two are needed": {
			func(f *facts) { f.ha.InSync = f.ha.InSync[:1] },
			phaseDegraded,
			map[mysqlv1.ConditionType]string{
				"Ready": "False TooFewInSync", "Durable": "False TooFewInSync", "Degraded": "True TooFewInSync",
			},
		},
		"a single instance, as asked for": {
			func(f *facts) { f.replicas, f.ready, f.minInSync, f.ha.InSync = 1, 1, 1, f.ha.InSync[:1] },
			phaseRunning,
			map[mysqlv1.ConditionType]string{"Durable": "False SingleInstance"},
		},
		"a replica is not Ready": {
			func(f *facts) { f.ready, f.notReady = 2, []string{"c-2"} },
			phaseDegraded,
			map[mysqlv1.ConditionType]string{"Ready": "False InstancesNotReady", "Degraded": "True InstancesNotReady"},
		},
		"an image cannot be pulled": {
			func(f *facts) {
				f.obstacle = obstacle{mysqlv1.ReasonImagePullFailed, "c-2: no such image"}
				f.ready, f.notReady = 2, []string{"c-2"}
			},
			phaseDegraded,
			map[mysqlv1.ConditionType]string{"Ready": "False ImagePullFailed", "Degraded": "True InstancesNotReady"},
		},
		"a setting waits for a restart": {
			func(f *facts) { f.outdated = []string{"c-1"} },
			phaseRunning,
			map[mysqlv1.ConditionType]string{"UpToDate": "False RestartPending"},
		},
		"the StatefulSet controller has not looked yet": {
			func(f *facts) { f.unsettled = true },
			phaseRunning,
			map[mysqlv1.ConditionType]string{"UpToDate": "Unknown WaitingForStatefulSet"},
		},
		"the spec cannot be carried out, and a child failed": {
			func(f *facts) { f.invalid, f.failed = errors.New("no"), []string{"services: no"} },
			phaseRunning,
			map[mysqlv1.ConditionType]string{"UpToDate": "False InvalidSpec"},
		},
		"paused": {
			func(f *facts) { f.paused = true },
			phaseRunning,
			map[mysqlv1.ConditionType]string{"Paused": "True PausedByUser", "UpToDate": "Unknown PausedByUser"},
		},
		"paused while a setting waits for a restart": {
			func(f *facts) { f.paused, f.outdated = true, []string{"c-1"} },
			phaseRunning,
			map[mysqlv1.ConditionType]string{"Paused": "True PausedByUser", "UpToDate": "False RestartPending"},
		},
		"deleting": {
			func(f *facts) { f.deleting = "waiting for pods to stop: c-0" },
			phaseDeleting,
			map[mysqlv1.ConditionType]string{
				"Ready": "False Deleting", "Available": "False Deleting", "Progressing": "True Deleting",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := fine()
			test.change(&f)
			want := map[mysqlv1.ConditionType]string{
				"Ready": "True AllInstancesReady", "Available": "True PrimaryOpen", "Durable": "True InSync",
				"Progressing": "False Steady", "UpToDate": "True AllUpToDate", "CertificatesValid": "True Valid",
				"Paused": "False NotPaused", "Degraded": "False AllInstancesReady",
			}
			maps.Copy(want, test.want)
			list := conditions(f)
			got := map[mysqlv1.ConditionType]string{}
			for _, c := range list {
				got[c.Type] = string(c.Status) + " " + string(c.Reason)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("conditions mismatch (-want +got):\n%s", diff)
			}
			if phase := phaseOf(f, list); phase != test.phase {
				t.Errorf("phase is %s, want %s", phase, test.phase)
			}
		})
	}
}

func TestEventsOfConditionsAreSentences(t *testing.T) {
	condition := func(status metav1.ConditionStatus, reason mysqlv1.Reason, message string) metav1.Condition {
		return metav1.Condition{Type: string(mysqlv1.ConditionAvailable), Status: status, Reason: string(reason), Message: message}
	}
	open := condition(metav1.ConditionTrue, mysqlv1.ReasonPrimaryOpen, "c-0 accepts writes")
	silent := condition(metav1.ConditionUnknown, mysqlv1.ReasonPrimaryUnreachable, "c-0 does not answer")
	closed := condition(metav1.ConditionFalse, "PrimaryDown", "mysqld of c-0 does not run")
	tests := map[string]struct {
		before []metav1.Condition
		after  metav1.Condition
		want   []string
	}{
		"it is lost":                        {[]metav1.Condition{open}, closed, []string{"Not Available: mysqld of c-0 does not run"}},
		"nobody can tell":                   {[]metav1.Condition{open}, silent, []string{"Cannot tell whether Available: c-0 does not answer"}},
		"it comes back":                     {[]metav1.Condition{closed}, open, []string{"Available again: c-0 accepts writes"}},
		"somebody can tell again":           {[]metav1.Condition{silent}, open, []string{"Available again: c-0 accepts writes"}},
		"the first time":                    {nil, open, nil},
		"nothing changed":                   {[]metav1.Condition{open}, open, nil},
		"it was not so and is not so still": {[]metav1.Condition{silent}, closed, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range conditionEvents(test.before, []metav1.Condition{test.after}) {
				got = append(got, e.Note)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("events mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// An error before the plan was taken for a primary that does not answer.
func TestWithoutADecisionNothingIsSaidThatRestsOnOne(t *testing.T) {
	f := fine()
	f.decision, f.planned = planner.Decision{}, false
	for _, c := range conditions(f) {
		if c.Type == mysqlv1.ConditionReady || c.Type == mysqlv1.ConditionAvailable || c.Type == mysqlv1.ConditionProgressing {
			t.Errorf("%s is %s %s", c.Type, c.Status, c.Reason)
		}
	}
}

func TestReasonsOfThePlannerAreReasonsOfConditions(t *testing.T) {
	for _, reason := range planner.Reasons() {
		if text := string(reason); text == "" || len(text) > 64 {
			t.Errorf("reason %q cannot be the reason of a condition", text)
		}
	}
	if string(planner.ReasonPrimaryUnreachable) != string(mysqlv1.ReasonPrimaryUnreachable) ||
		string(planner.ReasonTooFewInSync) != string(mysqlv1.ReasonTooFewInSync) {
		t.Error("planner and API have different words for the same reason")
	}
}

func TestObstaclesAreTheKubeletsWords(t *testing.T) {
	waiting := func(reason, message string) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name:                 "mysql",
			State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}},
		}}}
	}
	tests := map[string]struct {
		status corev1.PodStatus
		want   obstacle
	}{
		"none":     {corev1.PodStatus{}, obstacle{}},
		"creating": {waiting("ContainerCreating", ""), obstacle{}},
		"an image that is not there": {
			waiting("ErrImagePull", "not found"),
			obstacle{mysqlv1.ReasonImagePullFailed, "container mysql: ErrImagePull: not found"},
		},
		"a crash loop tells how it ended, not how long it waits": {
			waiting("CrashLoopBackOff", "back-off 5m0s"),
			obstacle{mysqlv1.ReasonContainerFailing, "container mysql: CrashLoopBackOff: ended with exit code 1 (Error)"},
		},
		"no node": {
			corev1.PodStatus{Conditions: []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available",
			}}},
			obstacle{mysqlv1.ReasonPodUnschedulable, "0/3 nodes are available"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := findObstacle(&corev1.Pod{Status: test.status})
			if got != test.want {
				t.Errorf("findObstacle() = %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestGTIDsThatCannotBeReadAreUnknownNotEmpty(t *testing.T) {
	if _, known := toGTIDs(&wire.GTIDs{Executed: "nonsense"}); known {
		t.Error("a set that cannot be read is known: the instance would count as one that has nothing")
	}
	if got, known := toGTIDs(&wire.GTIDs{}); !known || !got.Executed.IsEmpty() {
		t.Error("an empty set that was reported is not known")
	}
	if _, known := toGTIDs(nil); known {
		t.Error("a set that was not reported is known")
	}
}

func TestStateOfANewerManagerMatchesNothing(t *testing.T) {
	if got := toState(wire.State(99)); got != "" {
		t.Errorf("an unknown state became %q", got)
	}
	for number, name := range wire.State_name {
		if got := toState(wire.State(number)); got == "" && number != 0 {
			t.Errorf("%s is not mapped", name)
		}
	}
}

func TestFollowersAreNamedByTheirAccounts(t *testing.T) {
	got := toFollowers("my-db-0", []string{"keelson_catchup", naming.AccountReplication(10), naming.AccountReplication(2), "keelson_repl_02"})
	if diff := cmp.Diff([]string{"my-db-10", "my-db-2"}, got); diff != "" {
		t.Errorf("toFollowers() mismatch (-want +got):\n%s", diff)
	}
}

func TestStoredStateSurvivesTheWayThroughThePlanner(t *testing.T) {
	ha := mysqlv1.HAStatus{
		ClusterUID: "u", Bootstrapping: "c-0", Bootstrapped: true, Epoch: 2, Revision: 7, Primary: "c-1",
		InSync:    []mysqlv1.MemberStatus{{Name: "c-0", Incarnation: "a"}, {Name: "c-1", Incarnation: "b"}},
		MinInSync: 2, Opened: true, Step: "Reprovision", Reprovision: &mysqlv1.MemberStatus{Name: "c-2", Incarnation: "d"},
		Discarded: "00000000-0000-0000-0000-000000000001:1-3",
	}
	if diff := cmp.Diff(ha, haFromPlanner(haToPlanner(ha))); diff != "" {
		t.Errorf("a field is lost (-before +after):\n%s", diff)
	}
}

func TestDifferenceOfSetsIsShown(t *testing.T) {
	const u = "00000000-0000-0000-0000-000000000001"
	primary := gtid.MustParse(u + ":1-10")
	for text, want := range map[string]string{
		u + ":1-10": "=", u + ":1-8": "-" + u + ":9-10", u + ":1-11": "+" + u + ":11",
	} {
		if got := describeDifference(primary, gtid.MustParse(text)); got != want {
			t.Errorf("describeDifference(%s) = %q, want %q", text, got, want)
		}
	}
}

// MySQL refuses a longer password for a replication user (error 3056), so every join failed.
func TestAMemberPasswordIsNotTooLongForReplication(t *testing.T) {
	got := memberPassword([]byte("key"), planner.Member{Name: "c-0", Incarnation: "a"})
	if len(got) != 32 {
		t.Errorf("%q has %d characters, want 32", got, len(got))
	}
	if other := memberPassword([]byte("key"), planner.Member{Name: "c-0", Incarnation: "b"}); other == got {
		t.Error("two incarnations share a password")
	}
}
