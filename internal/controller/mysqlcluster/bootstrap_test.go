// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// ready brings up a cluster of n instances.
func readyCluster(t *testing.T, n int32) *env {
	t.Helper()
	e := newEnv(t, int(n))
	e.create(e.cluster(n))
	e.mustSettle()
	e.mustBe(mysqlv1.ConditionReady, metav1.ConditionTrue, mysqlv1.ReasonAllInstancesReady)
	return e
}

func TestNewClusterBecomesReady(t *testing.T) {
	for _, n := range []int32{1, 2, 3, 5} {
		t.Run(fmt.Sprintf("%d instances", n), func(t *testing.T) {
			e := readyCluster(t, n)
			status := e.get().Status
			if status.HA == nil || !status.HA.Opened || len(status.HA.InSync) != int(n) || status.Primary != "c-0" || status.Phase != phaseRunning {
				t.Errorf("status is %+v ha %+v", status, status.HA)
			}
			if status.Replicas != n || status.ReadyReplicas != n || len(status.Instances) != int(n) {
				t.Errorf("status counts %d pods, %d Ready, %d instances, want %d of each", status.Replicas, status.ReadyReplicas, len(status.Instances), n)
			}
			e.checkChildren(int(n))
			e.checkTraffic("c-0")
		})
	}
}

// checkChildren fails when an object of the cluster is missing.
func (e *env) checkChildren(n int) {
	e.t.Helper()
	objects := map[string]client.Object{
		naming.StatefulSet(clusterName):    &appsv1.StatefulSet{},
		naming.ConfigMap(clusterName):      &corev1.ConfigMap{},
		naming.SecretCA(clusterName):       &corev1.Secret{},
		naming.SecretTLS(clusterName):      &corev1.Secret{},
		naming.SecretInternal(clusterName): &corev1.Secret{},
		naming.SecretApp(clusterName):      &corev1.Secret{},
		naming.ServiceRW(clusterName):      &corev1.Service{},
		naming.ServiceRO(clusterName):      &corev1.Service{},
		naming.ServiceR(clusterName):       &corev1.Service{},
		naming.Headless(clusterName):       &corev1.Service{},
		naming.ServiceAccount(clusterName): &corev1.ServiceAccount{},
	}
	for name, object := range objects {
		e.must(e.api.Get(e.t.Context(), types.NamespacedName{Namespace: e.key.Namespace, Name: name}, object))
		kept := name == naming.SecretInternal(clusterName) || name == naming.SecretApp(clusterName)
		if owned := len(object.GetOwnerReferences()) == 1; owned == kept {
			e.t.Errorf("%T %s has owners %v; want one: %t", object, name, object.GetOwnerReferences(), !kept)
		}
	}
	e.must(e.api.Get(e.t.Context(), e.key, &policyv1.PodDisruptionBudget{}))
	e.must(e.api.Get(e.t.Context(), e.key, &networkingv1.NetworkPolicy{}))
	tls := objects[naming.SecretTLS(clusterName)].(*corev1.Secret)
	if len(tls.Data) != 1+2*n {
		e.t.Errorf("Secret with certificates has %d keys, want ca.crt and two for each of %d instances", len(tls.Data), n)
	}
}

// checkTraffic fails unless the labels send writes to the primary alone, and reads to all others.
func (e *env) checkTraffic(primary string) {
	e.t.Helper()
	pods := &corev1.PodList{}
	e.must(e.api.List(e.t.Context(), pods, client.InNamespace(e.key.Namespace)))
	for _, pod := range pods.Items {
		want := [2]string{naming.RoleReplica, naming.TrafficRO}
		if pod.Name == primary {
			want = [2]string{naming.RolePrimary, ""}
		}
		if got := [2]string{pod.Labels[naming.LabelRole], pod.Labels[naming.LabelTraffic]}; got != want {
			e.t.Errorf("pod %s has role and traffic %q, want %q", pod.Name, got, want)
		}
	}
}

func TestMembersGetThePasswordOfTheirIncarnation(t *testing.T) {
	e := readyCluster(t, 3)
	primary, own := e.sim.passwords["c-0"], map[string]bool{}
	for _, password := range primary[1:] { // the first is the instance's own, which a primary does not need
		if password == "" || own[password] {
			t.Errorf("the primary was given passwords %q: one is empty or given twice", primary)
		}
		own[password] = true
	}
	for _, replica := range []string{"c-1", "c-2"} {
		if got := e.sim.passwords[replica][0]; !own[got] {
			t.Errorf("%s was given a password that the primary does not expect", replica)
		}
	}
}

func TestReconcileOfAReadyClusterWritesNothing(t *testing.T) {
	e := readyCluster(t, 3)
	before, _ := e.transport.count()
	e.restart(0) // a new operator knows nothing, and must still find everything as it wants it
	for range 3 {
		if err := e.reconcile(); err != nil {
			t.Fatal(err)
		}
	}
	if after, log := e.transport.count(); after != 0 {
		t.Errorf("three reconciles of a Ready cluster made %d writes, want 0: %v", after, log)
	}
	t.Logf("bootstrap took %d writes", before)
}

func TestHandEditsAreUndone(t *testing.T) {
	e := readyCluster(t, 3)
	ctx, ns := t.Context(), e.key.Namespace
	service := &corev1.Service{}
	e.must(e.api.Get(ctx, types.NamespacedName{Namespace: ns, Name: naming.ServiceRW(clusterName)}, service))
	service.Spec.Selector[naming.LabelRole] = naming.RoleReplica
	e.must(e.api.Update(ctx, service))
	set := &appsv1.StatefulSet{}
	e.must(e.api.Get(ctx, e.key, set))
	set.Spec.Template.Spec.Containers[0].Command = []string{"sleep"}
	e.must(e.api.Update(ctx, set))
	pod := &corev1.Pod{}
	e.must(e.api.Get(ctx, types.NamespacedName{Namespace: ns, Name: "c-1"}, pod))
	pod.Labels[naming.LabelRole] = naming.RolePrimary
	e.must(e.api.Update(ctx, pod))
	e.must(e.api.Delete(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: naming.ConfigMap(clusterName)}}))

	e.mustSettle()

	e.must(e.api.Get(ctx, client.ObjectKeyFromObject(service), service))
	if got := service.Spec.Selector[naming.LabelRole]; got != naming.RolePrimary {
		t.Errorf("-rw selects role %s: writes would go to a replica", got)
	}
	e.must(e.api.Get(ctx, e.key, set))
	if got := set.Spec.Template.Spec.Containers[0].Command; got[0] == "sleep" {
		t.Errorf("command of the pod template is %v", got)
	}
	e.checkChildren(3)
	e.checkTraffic("c-0")
}

func TestLostSecretsAreMadeAgain(t *testing.T) {
	e := readyCluster(t, 3)
	passwords := func() map[string]string {
		out := map[string]string{}
		for _, name := range []string{naming.SecretInternal(clusterName), naming.SecretApp(clusterName)} {
			secret := &corev1.Secret{}
			e.must(e.api.Get(t.Context(), types.NamespacedName{Namespace: e.key.Namespace, Name: name}, secret))
			for k, v := range secret.Data {
				out[name+"/"+k] = string(v)
			}
		}
		return out
	}
	before := passwords()
	e.mustSettle()
	if diff := cmp.Diff(before, passwords()); diff != "" {
		t.Errorf("Secrets changed by themselves (-before +after):\n%s", diff)
	}
	e.must(e.api.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: e.key.Namespace, Name: naming.SecretInternal(clusterName),
	}}))
	e.mustSettle()
	after := passwords()
	key := naming.SecretInternal(clusterName) + "/" + naming.KeyManagerPassword
	if after[key] == "" || after[key] == before[key] {
		t.Errorf("manager password is %q after its Secret was lost", after[key])
	}
	if told := drainEvents(e); !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, "SecretRegenerated") }) {
		t.Errorf("no event tells that a Secret was lost: %v", told)
	}
}

func TestPasswordOfTheUserIsKept(t *testing.T) {
	e := newEnv(t, 1)
	e.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.key.Namespace, Name: naming.SecretApp(clusterName)},
		Data:       map[string][]byte{naming.KeyAppPassword: []byte("mine")},
	})
	e.create(e.cluster(1))
	e.mustSettle()
	secret := &corev1.Secret{}
	e.must(e.api.Get(t.Context(), types.NamespacedName{Namespace: e.key.Namespace, Name: naming.SecretApp(clusterName)}, secret))
	want := "mysql://app:mine@c-rw." + e.key.Namespace + ".svc:3306/app?ssl-mode=REQUIRED"
	if got := string(secret.Data[naming.KeyAppURI]); got != want || string(secret.Data[naming.KeyAppPassword]) != "mine" {
		t.Errorf("uri is %q, want %q", got, want)
	}
}

func drainEvents(e *env) []string {
	var out []string
	for {
		select {
		case told := <-e.sink.Events:
			out = append(out, told)
		default:
			return out
		}
	}
}

// TestOperatorKilledAfterAnyWriteEndsTheSame kills the operator after its first, second, … write of a bootstrap, and
// lets another one finish.
func TestOperatorKilledAfterAnyWriteEndsTheSame(t *testing.T) {
	t.Parallel()
	reference := endState(readyCluster(t, 2))
	for k := 1; ; k++ {
		e := newEnv(t, 2)
		e.restart(k)
		e.create(e.cluster(2))
		err := e.settle()
		if err == nil {
			if k < 20 {
				t.Fatalf("a bootstrap took only %d writes: this test does not see what it should", k)
			}
			t.Logf("killed after each of %d writes", k-1)
			return
		}
		if !errors.Is(err, errKilled) {
			t.Fatalf("killed after write %d: %v", k, err)
		}
		e.restart(0)
		e.mustSettle()
		if diff := cmp.Diff(reference, endState(e)); diff != "" {
			t.Errorf("killed after write %d, the end is another (-reference +got):\n%s", k, diff)
		}
	}
}

// TestAnyWriteMayFailOnce lets each write of a bootstrap in turn be refused as a conflict, or lose its answer.
func TestAnyWriteMayFailOnce(t *testing.T) {
	t.Parallel()
	for k := 1; ; k++ {
		e := newEnv(t, 1)
		e.transport.faultAt = k
		e.create(e.cluster(1))
		e.mustSettle()
		e.mustBe(mysqlv1.ConditionReady, metav1.ConditionTrue, mysqlv1.ReasonAllInstancesReady)
		e.mustBe(mysqlv1.ConditionUpToDate, metav1.ConditionTrue, mysqlv1.ReasonAllUpToDate)
		e.checkChildren(1)
		if writes, _ := e.transport.count(); writes < k {
			t.Logf("each of %d writes failed once", writes)
			return
		}
	}
}

// endState is what must be the same however often an operator died on the way.
func endState(e *env) map[string]any {
	e.t.Helper()
	status := e.get().Status
	var members, conditions []string
	for _, m := range status.HA.InSync {
		members = append(members, m.Name)
	}
	for _, c := range status.Conditions {
		conditions = append(conditions, c.Type+"="+string(c.Status)+" "+c.Reason)
	}
	e.checkChildren(2)
	e.checkTraffic("c-0")
	return map[string]any{
		"primary": status.HA.Primary, "opened": status.HA.Opened, "epoch": status.HA.Epoch, "inSync": members,
		"conditions": conditions, "phase": status.Phase, "ready": status.ReadyReplicas,
	}
}
