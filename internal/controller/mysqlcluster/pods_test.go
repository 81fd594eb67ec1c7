// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// TestPodToReplace: a pod that served once has data that others wait for, and is not started anew by itself.
func TestPodToReplace(t *testing.T) {
	tests := map[string]struct {
		change func(*scope)
		want   string
	}{
		"the first that is outdated and was never Ready": {func(*scope) {}, "c-1"},
		"the next, when that one has a role":             {func(s *scope) { s.pods["c-1"].Labels[naming.LabelRole] = naming.RoleReplica }, "c-2"},
		"the next, when that one is Ready": {func(s *scope) {
			s.pods["c-1"].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}, "c-2"},
		"the next, when that one says that it is Ready": {func(s *scope) {
			s.said = map[string]Observation{"c-1": {Snapshot: &wire.Snapshot{Ready: true}}}
		}, "c-2"},
		"the next, when that one does not exist":          {func(s *scope) { delete(s.pods, "c-1") }, "c-2"},
		"none while another one goes":                     {func(s *scope) { s.pods["c-0"].DeletionTimestamp = new(metav1.Now()) }, ""},
		"none while the StatefulSet controller must look": {func(s *scope) { s.set.Generation++ }, ""},
		"none without a StatefulSet":                      {func(s *scope) { s.set = nil }, ""},
		"none in a paused cluster":                        {func(s *scope) { s.paused = true }, ""},
		"none for a spec that cannot be carried out":      {func(s *scope) { s.invalid = errors.New("no") }, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &scope{
				cluster: &mysqlv1.MySQLCluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}},
				set: &appsv1.StatefulSet{
					ObjectMeta: metav1.ObjectMeta{Generation: 2},
					Status:     appsv1.StatefulSetStatus{ObservedGeneration: 2, UpdateRevision: "new"},
				},
				pods: map[string]*corev1.Pod{},
			}
			for name, revision := range map[string]string{"c-0": "new", "c-1": "old", "c-2": "old"} {
				s.pods[name] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
					Name: name, Labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: revision},
				}}
			}
			test.change(s)
			if got := podToReplace(s); got != test.want {
				t.Errorf("podToReplace() = %q, want %q", got, test.want)
			}
		})
	}
}
