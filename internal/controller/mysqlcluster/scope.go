// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/events"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/planner"
	"github.com/keelson-dev/mysql-operator/internal/resources"
)

// scope is what one reconcile knows of one cluster. load and observe fill it; the steps after them read it, and
// leave what they found in found.
type scope struct {
	cluster *mysqlv1.MySQLCluster // from the cache: not to be changed
	in      resources.Input
	now     time.Time
	paused  bool
	invalid error // what is wrong with the spec, in sentences

	set    *appsv1.StatefulSet // nil when there is none
	pods   map[string]*corev1.Pod
	claims map[string]*corev1.PersistentVolumeClaim

	secrets secrets
	said    map[string]Observation
	view    planner.View

	found found
}

// secrets is the secret material that the steps need.
type secrets struct {
	replicationKey []byte
	authority      authority
}

// found is what the steps of one reconcile leave for its report.
type found struct {
	decision     planner.Decision
	ha           *mysqlv1.HAStatus // as stored, after this reconcile's own write
	events       []events.Event    // of what was done in this reconcile
	failed       []string          // children that could not be written, in sentences
	growing      []string          // volume claims that are being expanded
	growRefused  string            // why volumes cannot grow
	certificates certificateState
	deleting     string // what a deletion waits for
	observed     bool   // the objects of the cluster were read
	planned      bool   // a decision was made, so decision is one
	unheard      bool   // the pass ended before anything was decided
}

// unheard tells that a stream to an instance that had a role was begun and has not come up nor failed yet. An operator
// that has just started would otherwise report every cluster as unreachable for a moment, and wake whoever watches the
// conditions. A first attempt ends within the client's dial timeout. Without an authority no stream is begun at all, and
// waiting for one would go on for ever, with not a word in the status of what is wrong.
func (s *scope) unheard() bool {
	if !s.secrets.authority.isKnown() {
		return false
	}
	for name, said := range s.said {
		if s.pods[name].Labels[naming.LabelRole] != "" && said.Snapshot == nil && said.Err == nil {
			return true
		}
	}
	return false
}

// names returns the names of the instances, by ordinal: those that the spec asks for, and every other one of which a
// volume claim or a pod exists.
func (s *scope) names() []string {
	ordinals := map[int]bool{}
	for i := range int(resources.Replicas(s.cluster)) {
		ordinals[i] = true
	}
	add := func(instance string) {
		if n, ok := naming.Ordinal(s.cluster.Name, instance); ok {
			ordinals[n] = true
		}
	}
	for name := range s.pods {
		add(name)
	}
	for name := range s.claims {
		add(name)
	}
	list := make([]int, 0, len(ordinals))
	for n := range ordinals {
		list = append(list, n)
	}
	slices.Sort(list)
	out := make([]string, 0, len(list))
	for _, n := range list {
		out = append(out, naming.Instance(s.cluster.Name, n))
	}
	return out
}

// ha returns the stored state: this reconcile's own write if there was one, never nil.
func (s *scope) ha() mysqlv1.HAStatus {
	switch {
	case s.found.ha != nil:
		return *s.found.ha
	case s.cluster.Status.HA != nil:
		return *s.cluster.Status.HA
	}
	return mysqlv1.HAStatus{}
}
