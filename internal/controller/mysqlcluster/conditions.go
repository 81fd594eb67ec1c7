// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/kube"
	"github.com/keelson-dev/mysql-operator/internal/planner"
)

// facts is what the conditions are computed from.
type facts struct {
	replicas, ready, minInSync int
	ha                         mysqlv1.HAStatus
	decision                   planner.Decision
	planned                    bool     // false: decision is none, and says nothing
	notReady                   []string // names of instances that are asked for and not Ready, by ordinal
	why                        map[string]string
	obstacle                   obstacle // the first instance's that has one; the text names it
	outdated                   []string
	unsettled                  bool // nobody can tell yet which pods are outdated
	growing                    []string
	growRefused                string
	failed                     []string
	invalid                    error
	certificates               certificateState
	paused                     bool
	deleting                   string
}

// conditions computes the conditions; their contracts are the comments in api/v1/conditions.go. Where nothing was
// planned, those that rest on a decision are left as they are: "nothing decided" is not "nobody answers", and an error of
// the operator's own would otherwise wake whoever watches Available.
func conditions(f facts) []kube.Condition {
	durable := durableCondition(f)
	list := []kube.Condition{
		durable,
		upToDateCondition(f),
		certificatesCondition(f),
		pausedCondition(f),
		degradedCondition(f, durable),
	}
	if !f.planned && f.deleting == "" {
		return list
	}
	available := availableCondition(f)
	return append(list, readyCondition(f, available, durable), available, progressingCondition(f))
}

func isTrue(c kube.Condition) bool { return c.Status == metav1.ConditionTrue }

func yes(t mysqlv1.ConditionType, reason mysqlv1.Reason, message string) kube.Condition {
	return kube.Condition{Type: t, Status: metav1.ConditionTrue, Reason: reason, Message: message}
}

func no(t mysqlv1.ConditionType, reason mysqlv1.Reason, message string) kube.Condition {
	return kube.Condition{Type: t, Status: metav1.ConditionFalse, Reason: reason, Message: message}
}

func unknown(t mysqlv1.ConditionType, reason mysqlv1.Reason, message string) kube.Condition {
	return kube.Condition{Type: t, Status: metav1.ConditionUnknown, Reason: reason, Message: message}
}

// readyCondition: an obstacle that Kubernetes reports comes first, since nothing else can be right before it is gone.
// A single instance is never durable, and that is what was asked for.
func readyCondition(f facts, available, durable kube.Condition) kube.Condition {
	const t = mysqlv1.ConditionReady
	switch {
	case f.deleting != "":
		return no(t, mysqlv1.ReasonDeleting, f.deleting)
	case f.obstacle.text != "":
		return no(t, f.obstacle.reason, f.obstacle.text)
	case !isTrue(available):
		return no(t, available.Reason, available.Message)
	case !isTrue(durable) && durable.Reason != mysqlv1.ReasonSingleInstance:
		return no(t, durable.Reason, durable.Message)
	case len(f.notReady) > 0:
		return no(t, mysqlv1.ReasonInstancesNotReady, notReadyMessage(f))
	}
	return yes(t, mysqlv1.ReasonAllInstancesReady, fmt.Sprintf("%d of %d instances are Ready", f.ready, f.replicas))
}

func notReadyMessage(f facts) string {
	parts := make([]string, 0, len(f.notReady))
	for _, name := range f.notReady {
		if why := f.why[name]; why != "" {
			name += ": " + why
		}
		parts = append(parts, name)
	}
	return "not Ready: " + strings.Join(parts, "; ")
}

func availableCondition(f facts) kube.Condition {
	const t = mysqlv1.ConditionAvailable
	available, known := f.decision.Available.Get()
	switch {
	case f.deleting != "":
		return no(t, mysqlv1.ReasonDeleting, "the cluster is being deleted")
	case !known:
		return unknown(t, mysqlv1.ReasonPrimaryUnreachable, decisionMessage(f.decision))
	case available:
		return yes(t, mysqlv1.ReasonPrimaryOpen, f.ha.Primary+" accepts writes")
	}
	return no(t, reasonOf(f.decision), decisionMessage(f.decision))
}

// durableCondition speaks of the stored in-sync set: that is what holds every acknowledged write.
func durableCondition(f facts) kube.Condition {
	const t = mysqlv1.ConditionDurable
	n := len(f.ha.InSync)
	names := make([]string, 0, n)
	for _, m := range f.ha.InSync {
		names = append(names, m.Name)
	}
	message := fmt.Sprintf("%d in sync, %d needed: %s", n, f.minInSync, strings.Join(slices.Sorted(slices.Values(names)), ", "))
	switch {
	case !f.ha.Bootstrapped:
		return unknown(t, mysqlv1.ReasonNotBootstrapped, "the cluster has no data yet")
	case f.replicas == 1:
		return no(t, mysqlv1.ReasonSingleInstance, "a single instance has no copy; set replicas to 3 for one that survives the loss of two")
	case n < f.minInSync || n < 2:
		return no(t, mysqlv1.ReasonTooFewInSync, message)
	}
	return yes(t, mysqlv1.ReasonInSync, message)
}

func progressingCondition(f facts) kube.Condition {
	const t = mysqlv1.ConditionProgressing
	switch {
	case f.deleting != "":
		return yes(t, mysqlv1.ReasonDeleting, f.deleting)
	case f.decision.Progressing:
		return yes(t, reasonOf(f.decision), decisionMessage(f.decision))
	}
	if available, known := f.decision.Available.Get(); known && available {
		return no(t, mysqlv1.ReasonSteady, "nothing is to be done")
	}
	return no(t, reasonOf(f.decision), decisionMessage(f.decision))
}

func upToDateCondition(f facts) kube.Condition {
	const t = mysqlv1.ConditionUpToDate
	switch {
	case f.invalid != nil:
		return no(t, mysqlv1.ReasonInvalidSpec, f.invalid.Error())
	case len(f.failed) > 0:
		return no(t, mysqlv1.ReasonApplyFailed, strings.Join(f.failed, "; "))
	case f.growRefused != "":
		return no(t, mysqlv1.ReasonStorageGrowRefused, f.growRefused)
	case len(f.growing) > 0:
		return no(t, mysqlv1.ReasonStorageGrowing, "growing "+strings.Join(f.growing, ", "))
	case f.unsettled:
		return unknown(t, mysqlv1.ReasonWaitingForStatefulSet, "the StatefulSet controller has not looked at the newest pod template yet")
	case len(f.outdated) > 0:
		return no(t, mysqlv1.ReasonRestartPending,
			"run with older settings or pod template until they are restarted: "+strings.Join(f.outdated, ", "))
	case f.paused:
		// Pods are compared with the objects as they were before the pause, so an edit since then would look done.
		return unknown(t, mysqlv1.ReasonPausedByUser, "the cluster is paused, and is not compared with its spec until that ends")
	}
	return yes(t, mysqlv1.ReasonAllUpToDate, "every instance runs what the spec says")
}

func certificatesCondition(f facts) kube.Condition {
	const t = mysqlv1.ConditionCertificatesValid
	if f.certificates.reason != "" {
		return no(t, f.certificates.reason, f.certificates.message)
	}
	return yes(t, mysqlv1.ReasonCertificatesValid, "certificates are valid and renewed in time")
}

func pausedCondition(f facts) kube.Condition {
	const t = mysqlv1.ConditionPaused
	if f.paused {
		return yes(t, mysqlv1.ReasonPausedByUser, "annotation mysql.keelson.dev/paused is \"true\": nothing is changed")
	}
	return no(t, mysqlv1.ReasonNotPaused, "the operator looks after the cluster")
}

func degradedCondition(f facts, durable kube.Condition) kube.Condition {
	const t = mysqlv1.ConditionDegraded
	switch {
	case !isTrue(durable) && durable.Reason != mysqlv1.ReasonSingleInstance:
		return yes(t, durable.Reason, durable.Message)
	case f.ready < f.replicas:
		return yes(t, mysqlv1.ReasonInstancesNotReady, notReadyMessage(f))
	}
	return no(t, mysqlv1.ReasonAllInstancesReady, "every instance is healthy")
}

func reasonOf(d planner.Decision) mysqlv1.Reason {
	if d.Reason == "" {
		return mysqlv1.ReasonSteady
	}
	return mysqlv1.Reason(d.Reason)
}

// decisionMessage is what the planner saw, and why it used none of those it did not use.
func decisionMessage(d planner.Decision) string {
	parts := slices.Clone(d.Because)
	names := make([]string, 0, len(d.Refused))
	for name := range d.Refused {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		parts = append(parts, "not "+name+": "+d.Refused[name])
	}
	return strings.Join(parts, "; ")
}

// Phases, for people.
const (
	phasePending      = "Pending"
	phaseInitializing = "Initializing"
	phaseRunning      = "Running"
	phaseDegraded     = "Degraded"
	phaseUnavailable  = "Unavailable"
	phaseDeleting     = "Deleting"
)

// phaseOf sums the conditions up in one word; nothing decides from it.
func phaseOf(f facts, list []kube.Condition) string {
	is := func(t mysqlv1.ConditionType) bool {
		return slices.ContainsFunc(list, func(c kube.Condition) bool { return c.Type == t && isTrue(c) })
	}
	first := f.ha.Epoch <= 1 && !f.ha.Opened
	switch {
	case f.deleting != "":
		return phaseDeleting
	case is(mysqlv1.ConditionReady):
		return phaseRunning
	case is(mysqlv1.ConditionAvailable):
		return phaseDegraded
	case f.ha.Bootstrapping == "" && !f.ha.Bootstrapped:
		return phasePending
	case first:
		return phaseInitializing
	}
	return phaseUnavailable
}
