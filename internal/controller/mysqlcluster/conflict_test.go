// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/kube"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/planner"
)

func TestOnlyOneOfTwoDecisionsIsStored(t *testing.T) {
	e := newEnv(t, 1)
	e.create(e.cluster(1))
	seen := e.get()
	first, err := kube.UpdateHA(t.Context(), e.api, e.api, seen, mysqlv1.HAStatus{Epoch: 1, ClusterUID: "first"})
	if err != nil || first.Revision != 1 {
		t.Fatalf("the first write gave %+v, %v", first, err)
	}
	_, err = kube.UpdateHA(t.Context(), e.api, e.api, seen, mysqlv1.HAStatus{Epoch: 1, ClusterUID: "second"})
	if !errors.Is(err, kube.ErrHAChanged) {
		t.Errorf("the second write, decided from the same state, gave %v, want %v", err, kube.ErrHAChanged)
	}
	if got := e.get().Status.HA.ClusterUID; got != "first" {
		t.Errorf("stored is the decision %q, want the first", got)
	}
}

func TestDecisionFromAnOldStateIsDroppedAndSendsNothing(t *testing.T) {
	e := readyCluster(t, 1)
	orders := e.sim.orderCount()
	e.r.Plan = func(v planner.View) planner.Decision {
		// While we plan, another leader writes.
		other := e.get()
		other.Status.HA.Revision++
		e.must(e.api.Status().Update(t.Context(), other))
		ha := v.HA.Clone()
		ha.Epoch++
		return planner.Decision{Reason: "Test", Persist: &ha}
	}
	result, err := e.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: e.key})
	if err != nil || result.RequeueAfter <= 0 {
		t.Errorf("a conflict gave %+v, %v; want to look again soon, without an error", result, err)
	}
	if got := e.get().Status.HA.Epoch; got != 1 || e.sim.orderCount() != orders {
		t.Errorf("epoch is %d and %d orders were sent, want the decision dropped", got, e.sim.orderCount()-orders)
	}
}

func TestDecisionThatBreaksAnInvariantIsNotCarriedOut(t *testing.T) {
	e := readyCluster(t, 1)
	e.r.Plan = func(v planner.View) planner.Decision {
		ha := v.HA.Clone()
		ha.Epoch--
		return planner.Decision{Reason: "Test", Persist: &ha}
	}
	if err := e.reconcile(); err == nil {
		t.Error("the reconcile gave no error")
	}
	if got := e.get().Status.HA.Epoch; got != 1 {
		t.Errorf("epoch is %d, want 1", got)
	}
}

// TestOldPrimarysLabelGoesFirst: two pods with the label would split the writes.
func TestOldPrimarysLabelGoesFirst(t *testing.T) {
	e := readyCluster(t, 2)
	cluster := e.get()
	cluster.Status.HA.Primary, cluster.Status.HA.Epoch = "c-1", 2
	e.must(e.api.Status().Update(t.Context(), cluster))
	s, err := e.r.load(t.Context(), ctrl.Request{NamespacedName: e.key})
	e.must(err)
	e.must(e.r.observe(t.Context(), s))
	if out := e.r.writeChildren(t.Context(), s); out.Err() != nil {
		t.Fatal(out.Err())
	}
	e.must(e.r.connect(s))
	// The model does not know of failover yet: say that the new primary is open.
	s.said["c-1"].Snapshot.Server.Open = true
	s.said["c-0"].Snapshot.Server.Open = true
	before, _ := e.transport.count()
	e.transport.dieAfter = before + 1
	_ = e.r.reconcileLabels(t.Context(), s) // dies after its first write
	for name, pod := range e.podLabels() {
		if pod[naming.LabelRole] == naming.RolePrimary {
			t.Errorf("after the first write %s is labelled primary, want none", name)
		}
	}
}

func (e *env) podLabels() map[string]map[string]string {
	e.t.Helper()
	out := map[string]map[string]string{}
	s := &scope{cluster: e.get()}
	e.must((&Reconciler{Client: e.api, Uncached: e.api}).observePods(e.t.Context(), s))
	for name, pod := range s.pods {
		out[name] = pod.Labels
	}
	return out
}

// TestDeletionThatFailsIsADeletion: what could not be deleted is no reason to report an unreachable primary.
func TestDeletionThatFailsIsADeletion(t *testing.T) {
	e := readyCluster(t, 1)
	e.must(e.api.Delete(t.Context(), e.get()))
	e.restart(0)
	e.transport.faultAt = 1 // the deletion of the StatefulSet: its answer is lost
	if err := e.reconcile(); !errors.Is(err, errAfterCommit) {
		t.Fatalf("the reconcile gave %v, want %v", err, errAfterCommit)
	}
	e.mustBe(mysqlv1.ConditionAvailable, metav1.ConditionFalse, mysqlv1.ReasonDeleting)
	e.mustBe(mysqlv1.ConditionReady, metav1.ConditionFalse, mysqlv1.ReasonDeleting)
}

// TestStoredDecisionIsToldThoughTheStatusCannotBeWritten: no later reconcile would tell of it.
func TestStoredDecisionIsToldThoughTheStatusCannotBeWritten(t *testing.T) {
	e := newEnv(t, 1)
	e.create(e.cluster(1))
	e.transport.refuseStatus = true
	for range 20 {
		if _, err := e.round(); !errors.Is(err, errNoStatus) {
			t.Fatalf("the reconcile gave %v, want %v", err, errNoStatus)
		}
		if e.get().Status.HA != nil {
			break
		}
	}
	if told := drainEvents(e); !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, "Bootstrapping") }) {
		t.Errorf("events are %q, want one that tells of the bootstrap", told)
	}
}

// A restarted operator that cannot read the authority begins no stream: it waited for one for ever, and never said why.
func TestDamagedAuthorityIsToldByARestartedOperator(t *testing.T) {
	e := readyCluster(t, 1)
	secret := &corev1.Secret{}
	e.must(e.api.Get(t.Context(), types.NamespacedName{Namespace: e.key.Namespace, Name: naming.SecretCA(clusterName)}, secret))
	secret.Data[naming.KeyCACert] = []byte("damaged")
	e.must(e.api.Update(t.Context(), secret))
	e.restart(0)
	clear(e.sim.tracked)
	_ = e.reconcile() // what it says is in the condition
	c := e.mustBe(mysqlv1.ConditionCertificatesValid, metav1.ConditionFalse, mysqlv1.ReasonCertificateInvalid)
	if !strings.Contains(c.Message, "delete it and a new authority is made") {
		t.Errorf("message %q does not say what to do", c.Message)
	}
	e.must(e.api.Delete(t.Context(), secret))
	e.mustSettle()
	e.mustBe(mysqlv1.ConditionCertificatesValid, metav1.ConditionTrue, mysqlv1.ReasonCertificatesValid)
	e.mustBe(mysqlv1.ConditionReady, metav1.ConditionTrue, mysqlv1.ReasonAllInstancesReady)
}
