// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/gtid"
	"github.com/keelson-dev/mysql-operator/internal/kube"
	"github.com/keelson-dev/mysql-operator/internal/planner"
	"github.com/keelson-dev/mysql-operator/internal/resources"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// Limits of the fields, as the API's markers say them.
const (
	maxGTID = 512
	maxWhy  = 1024
)

// stateUnreachable is the state of an instance that says nothing.
const stateUnreachable = "Unreachable"

func metaTime(t time.Time) metav1.Time { return metav1.NewTime(t) }

// buildStatus computes the whole status but ha.
func buildStatus(s *scope) mysqlv1.MySQLClusterStatus {
	f := gatherFacts(s)
	list := conditions(f)
	out := mysqlv1.MySQLClusterStatus{
		ObservedGeneration: s.cluster.Generation,
		Phase:              phaseOf(f, list),
		Replicas:           int32(len(s.pods)), //nolint:gosec // a handful
		ReadyReplicas:      int32(f.ready),     //nolint:gosec // a handful
		Selector:           labels.SelectorFromSet(resources.Selector(s.cluster)).String(),
		Primary:            f.ha.Primary,
		Instances:          instanceStatuses(s),
		Conditions:         s.cluster.Status.Conditions,
	}
	if !f.planned && f.deleting == "" && s.cluster.Status.Phase != "" {
		out.Phase = s.cluster.Status.Phase // it sums up conditions that were left as they are
	}
	for _, c := range list {
		out.Conditions = kube.SetCondition(out.Conditions, c, s.cluster.Generation, s.now)
	}
	return out
}

func gatherFacts(s *scope) facts {
	f := facts{
		replicas:     int(resources.Replicas(s.cluster)),
		minInSync:    int(resources.MinInSync(s.cluster)),
		ha:           s.ha(),
		decision:     s.found.decision,
		planned:      s.found.planned,
		why:          map[string]string{},
		growing:      s.found.growing,
		growRefused:  s.found.growRefused,
		failed:       s.found.failed,
		invalid:      s.invalid,
		certificates: s.found.certificates,
		paused:       s.paused,
		unsettled:    !isSettled(s.set),
		deleting:     s.found.deleting,
	}
	for i, name := range s.names() {
		pod := s.pods[name]
		f.why[name] = whyNot(s, name)
		if isReady(pod) {
			f.ready++
		} else if i < f.replicas {
			f.notReady = append(f.notReady, name)
		}
		if o := findObstacle(pod); o.text != "" && f.obstacle.text == "" {
			f.obstacle = obstacle{o.reason, name + ": " + o.text}
		}
		if pod != nil && isOutdated(s.set, pod) {
			f.outdated = append(f.outdated, name)
		}
	}
	return f
}

// whyNot says in one sentence why an instance is not as it should be; empty when it is.
func whyNot(s *scope, name string) string {
	pod := s.pods[name]
	said := s.said[name]
	refused := s.found.decision.Refused[name]
	switch o := findObstacle(pod); {
	case pod == nil:
		return "its pod does not exist"
	case o.text != "":
		return o.text
	case said.Snapshot == nil && said.Err != nil:
		return "does not answer: " + rootCause(said.Err)
	case said.Snapshot.GetWhy() != "":
		return said.Snapshot.GetWhy()
	case refused != "":
		return refused
	}
	return ""
}

// rootCause is the last part of an error's text. What comes before it names addresses and source ports, which change
// with every attempt: a status that quotes them would be written with every attempt.
func rootCause(err error) string {
	text := err.Error()
	if at := strings.LastIndex(text, ": "); at >= 0 {
		text = text[at+2:]
	}
	return strings.Trim(text, `"`)
}

func instanceStatuses(s *scope) []mysqlv1.InstanceStatus {
	ha := s.ha()
	primary, known := executed(s.said[ha.Primary].Snapshot)
	var out []mysqlv1.InstanceStatus
	for _, name := range s.names() {
		pod, said := s.pods[name], s.said[name].Snapshot
		status := mysqlv1.InstanceStatus{
			Name:    name,
			Role:    roleOf(ha, name, said),
			InSync:  isMember(ha.InSync, name, said),
			Ready:   isReady(pod),
			State:   stateOf(s, name),
			Version: said.GetMysqlVersion(),
			Why:     kube.Truncate(whyNot(s, name), maxWhy),
		}
		if pod != nil {
			status.Node = pod.Spec.NodeName
		}
		if own, ok := executed(said); ok {
			text := own.String()
			if known && name != ha.Primary {
				text = describeDifference(primary, own)
			}
			status.GTID = kube.Truncate(text, maxGTID)
		}
		out = append(out, status)
	}
	return out
}

func roleOf(ha mysqlv1.HAStatus, name string, said *wire.Snapshot) string {
	switch {
	case name == ha.Primary && ha.Primary != "":
		return "primary"
	case said.GetMarker().GetRole() == wire.Role_ROLE_REPLICA:
		return "replica"
	}
	return ""
}

// isMember tells whether the incarnation that runs there is a member; one that says nothing is taken for the stored one.
func isMember(inSync []mysqlv1.MemberStatus, name string, said *wire.Snapshot) bool {
	return slices.ContainsFunc(inSync, func(m mysqlv1.MemberStatus) bool {
		return m.Name == name && (said.GetMarker() == nil || said.GetMarker().GetIncarnation() == m.Incarnation)
	})
}

func stateOf(s *scope, name string) string {
	said := s.said[name]
	switch {
	case s.pods[name] == nil:
		return ""
	case s.pods[name].Status.Phase == corev1.PodPending:
		return string(corev1.PodPending)
	case said.Snapshot == nil || s.now.Sub(said.Received) > planner.FailureThreshold:
		return stateUnreachable
	}
	return string(toState(said.Snapshot.GetState()))
}

func executed(said *wire.Snapshot) (gtid.Set, bool) {
	if said.GetGtid() == nil {
		return gtid.Set{}, false
	}
	set, err := gtid.Parse(said.GetGtid().GetExecuted())
	return set, err == nil
}

// describeDifference is how a set differs from the primary's: people compare, they do not read.
func describeDifference(primary, own gtid.Set) string {
	var parts []string
	if lacks := primary.Subtract(own); !lacks.IsEmpty() {
		parts = append(parts, "-"+lacks.String())
	}
	if extra := own.Subtract(primary); !extra.IsEmpty() {
		parts = append(parts, "+"+extra.String())
	}
	if len(parts) == 0 {
		return "="
	}
	return strings.Join(parts, " ")
}

// sameStatus compares two statuses without ha, which is written elsewhere, and without the GTID sets, which change
// with every write of the application and are taken along when something else changes.
func sameStatus(a, b mysqlv1.MySQLClusterStatus) bool {
	a, b = *a.DeepCopy(), *b.DeepCopy()
	for _, st := range []*mysqlv1.MySQLClusterStatus{&a, &b} {
		st.HA = nil
		for i := range st.Instances {
			st.Instances[i].GTID = ""
		}
	}
	return equalStatus(a, b)
}
