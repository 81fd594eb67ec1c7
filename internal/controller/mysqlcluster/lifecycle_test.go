// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// deleteCluster deletes the cluster and lets everybody do their part until it is gone.
func (e *env) deleteCluster() {
	e.t.Helper()
	e.must(e.api.Delete(e.t.Context(), e.get()))
	for range 20 {
		if _, err := e.round(); err != nil {
			e.t.Fatal(err)
		}
		err := e.api.Get(e.t.Context(), e.key, &mysqlv1.MySQLCluster{})
		if apierrors.IsNotFound(err) {
			return
		}
	}
	e.t.Fatalf("the cluster is still there: %+v", e.get().Status.Conditions)
}

// kept returns the names of volume claims and Secrets that nobody owns.
func (e *env) kept() []string {
	e.t.Helper()
	claims, secrets := &corev1.PersistentVolumeClaimList{}, &corev1.SecretList{}
	e.must(e.api.List(e.t.Context(), claims, client.InNamespace(e.key.Namespace)))
	e.must(e.api.List(e.t.Context(), secrets, client.InNamespace(e.key.Namespace)))
	var out []string
	for _, c := range claims.Items {
		if c.DeletionTimestamp == nil && len(c.OwnerReferences) == 0 {
			out = append(out, c.Name)
		}
	}
	for _, s := range secrets.Items {
		if len(s.OwnerReferences) == 0 {
			out = append(out, s.Name)
		}
	}
	slices.Sort(out)
	return out
}

func TestDeletedClusterLeavesWhatItsPolicySays(t *testing.T) {
	tests := map[string]struct {
		policy mysqlv1.DeletionPolicy
		want   []string
	}{
		"Retain keeps volumes and their Secrets": {mysqlv1.DeletionRetain, []string{"c-app", "c-internal", "data-c-0", "data-c-1"}},
		"Delete keeps nothing":                   {mysqlv1.DeletionDelete, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, 2)
			cluster := e.cluster(2)
			cluster.Spec.DeletionPolicy = test.policy
			e.create(cluster)
			e.mustSettle()
			e.deleteCluster()
			if diff := cmp.Diff(test.want, e.kept()); diff != "" {
				t.Errorf("what is left mismatch (-want +got):\n%s", diff)
			}
			if err := e.api.Get(t.Context(), e.key, &appsv1.StatefulSet{}); !apierrors.IsNotFound(err) {
				t.Errorf("the StatefulSet is still there: %v", err)
			}
			if len(e.sim.tracked) != 0 {
				t.Errorf("streams are still kept to %v", e.sim.tracked)
			}
		})
	}
}

func TestClusterOfTheSameNameTakesOverKeptVolumes(t *testing.T) {
	e := readyCluster(t, 3)
	uid := e.get().Status.HA.ClusterUID
	e.deleteCluster()
	for _, i := range e.sim.world.Instances {
		i.Kill()
	}
	e.restart(0)
	e.create(e.cluster(3))
	e.mustSettle()
	e.mustBe(mysqlv1.ConditionReady, metav1.ConditionTrue, mysqlv1.ReasonAllInstancesReady)
	if got := e.get().Status.HA; got.ClusterUID != uid || got.Epoch < 2 {
		t.Errorf("ha is %+v, want cluster UID %s in a later epoch", got, uid)
	}
}

func TestNothingIsInitialisedBesideAClaimWithoutOurLabel(t *testing.T) {
	e := newEnv(t, 1)
	e.create(&corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.key.Namespace, Name: "data-c-1"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
	})
	claim := &corev1.PersistentVolumeClaim{}
	e.must(e.api.Get(t.Context(), types.NamespacedName{Namespace: e.key.Namespace, Name: "data-c-1"}, claim))
	claim.Status.Phase = corev1.ClaimBound
	e.must(e.api.Status().Update(t.Context(), claim))
	e.create(e.cluster(1))
	e.mustSettle()
	c := e.mustBe(mysqlv1.ConditionAvailable, metav1.ConditionFalse, "WaitingForInstances")
	if !strings.Contains(c.Message, "c-1") || e.get().Status.HA != nil {
		t.Errorf("message is %q, ha is %+v", c.Message, e.get().Status.HA)
	}
	e.must(e.api.Get(t.Context(), client.ObjectKeyFromObject(claim), claim))
	if claim.Labels[naming.LabelCluster] != clusterName {
		t.Error("the claim did not get our label: the cache would not see it")
	}
}

func TestWrongImageShowsTheKubeletsWordsAndFixingItHeals(t *testing.T) {
	e := newEnv(t, 3)
	e.unpullable = "docker.io/library/mysql:9.7.99"
	cluster := e.cluster(3)
	cluster.Spec.Version = "9.7.99"
	e.create(cluster)
	e.mustSettle()
	c := e.mustBe(mysqlv1.ConditionReady, metav1.ConditionFalse, mysqlv1.ReasonImagePullFailed)
	if want := "c-0: container mysql: ErrImagePull: not found"; c.Message != want {
		t.Errorf("message is %q, want %q", c.Message, want)
	}
	e.edit(func(c *mysqlv1.MySQLCluster) { c.Spec.Version = "9.7.4" })
	e.mustSettle()
	e.mustBe(mysqlv1.ConditionReady, metav1.ConditionTrue, mysqlv1.ReasonAllInstancesReady)
	e.mustBe(mysqlv1.ConditionUpToDate, metav1.ConditionTrue, mysqlv1.ReasonAllUpToDate)
}

func TestChangedSettingWaitsForARestart(t *testing.T) {
	e := readyCluster(t, 2)
	before := e.podUIDs()
	drainEvents(e)
	e.edit(func(c *mysqlv1.MySQLCluster) { c.Spec.MySQL.Config = map[string]string{"max_connections": "500"} })
	// Before the StatefulSet controller looked, every pod looked up to date, and a script that waits for that went on.
	e.must(e.reconcile())
	unknown := e.mustBe(mysqlv1.ConditionUpToDate, metav1.ConditionUnknown, mysqlv1.ReasonWaitingForStatefulSet)
	if want := e.get().Generation; unknown.ObservedGeneration != want {
		t.Errorf("observed generation is %d, want %d", unknown.ObservedGeneration, want)
	}
	e.mustSettle()
	if told := drainEvents(e); len(told) != 1 || !strings.Contains(told[0], "RestartPending") {
		t.Errorf("events are %q, want one that tells of the pending restart", told)
	}
	c := e.mustBe(mysqlv1.ConditionUpToDate, metav1.ConditionFalse, mysqlv1.ReasonRestartPending)
	if !strings.Contains(c.Message, "c-0, c-1") {
		t.Errorf("message %q does not name the instances", c.Message)
	}
	e.mustBe(mysqlv1.ConditionReady, metav1.ConditionTrue, mysqlv1.ReasonAllInstancesReady)
	if diff := cmp.Diff(before, e.podUIDs()); diff != "" {
		t.Errorf("pods were replaced (-before +after):\n%s", diff)
	}
}

func (e *env) podUIDs() map[string]types.UID {
	e.t.Helper()
	list := &corev1.PodList{}
	e.must(e.api.List(e.t.Context(), list, client.InNamespace(e.key.Namespace)))
	out := map[string]types.UID{}
	for _, pod := range list.Items {
		out[pod.Name] = pod.UID
	}
	return out
}

func TestReplicasUpJoinByClone(t *testing.T) {
	e := readyCluster(t, 1)
	e.sim.grow(3)
	e.edit(func(c *mysqlv1.MySQLCluster) { *c.Spec.Replicas = 3 })
	e.mustSettle()
	e.mustBe(mysqlv1.ConditionReady, metav1.ConditionTrue, mysqlv1.ReasonAllInstancesReady)
	if n := len(e.get().Status.HA.InSync); n != 3 {
		t.Errorf("%d instances are in sync, want 3", n)
	}
	e.checkChildren(3)
}

// TestScaleWorksUpwardsOnly: `kubectl scale` must not be a way round the rule of replicas.
func TestScaleWorksUpwardsOnly(t *testing.T) {
	e := readyCluster(t, 1)
	e.sim.grow(3)
	scale := func(replicas int32) error {
		live := &autoscalingv1.Scale{}
		e.must(e.api.SubResource("scale").Get(t.Context(), e.get(), live))
		if live.Status.Replicas != e.get().Status.Replicas || live.Status.Selector == "" {
			t.Errorf("scale tells %+v, want the %d pods and their selector", live.Status, e.get().Status.Replicas)
		}
		live.Spec.Replicas = replicas
		return e.api.SubResource("scale").Update(t.Context(), e.get(), client.WithSubResourceBody(live))
	}
	e.must(scale(3))
	e.mustSettle()
	if n := len(e.get().Status.HA.InSync); n != 3 {
		t.Errorf("%d instances are in sync, want 3", n)
	}
	mustRefuse(t, scale(1), "replicas cannot be lowered yet")
}

func TestPausedClusterIsLeftAlone(t *testing.T) {
	e := readyCluster(t, 2)
	e.edit(func(c *mysqlv1.MySQLCluster) { c.Annotations = map[string]string{naming.AnnotationPaused: "true"} })
	service := &corev1.Service{}
	key := types.NamespacedName{Namespace: e.key.Namespace, Name: naming.ServiceRO(clusterName)}
	e.must(e.api.Get(t.Context(), key, service))
	e.must(e.api.Delete(t.Context(), service))
	e.mustSettle()
	e.mustBe(mysqlv1.ConditionPaused, metav1.ConditionTrue, mysqlv1.ReasonPausedByUser)
	if err := e.api.Get(t.Context(), key, service); !apierrors.IsNotFound(err) {
		t.Errorf("getting the deleted Service gave %v: the operator did not keep its hands off", err)
	}
	e.edit(func(c *mysqlv1.MySQLCluster) { c.Annotations = nil })
	e.mustSettle()
	e.must(e.api.Get(t.Context(), key, service))
	e.mustBe(mysqlv1.ConditionPaused, metav1.ConditionFalse, mysqlv1.ReasonNotPaused)
}

func (e *env) storageClass(name string, expandable bool) {
	e.t.Helper()
	class := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: "example.com/none", AllowVolumeExpansion: &expandable,
	}
	if err := e.api.Create(e.t.Context(), class); err != nil && !apierrors.IsAlreadyExists(err) {
		e.t.Fatal(err)
	}
}

func TestVolumesGrowWhereTheirClassAllowsIt(t *testing.T) {
	e := newEnv(t, 2)
	e.storageClass("fast", true)
	e.create(e.cluster(2))
	e.mustSettle()
	pods := e.podUIDs()
	e.edit(func(c *mysqlv1.MySQLCluster) { c.Spec.Storage.Size = resource.MustParse("2Gi") })
	e.mustSettle()
	e.mustBe(mysqlv1.ConditionUpToDate, metav1.ConditionFalse, mysqlv1.ReasonStorageGrowing)
	set := &appsv1.StatefulSet{}
	e.must(e.api.Get(t.Context(), e.key, set))
	if got := templateSize(set); got.String() != "2Gi" {
		t.Errorf("new volumes would have %s, want 2Gi", got.String())
	}
	for _, name := range []string{"data-c-0", "data-c-1"} {
		claim := &corev1.PersistentVolumeClaim{}
		e.must(e.api.Get(t.Context(), types.NamespacedName{Namespace: e.key.Namespace, Name: name}, claim))
		if got := claim.Spec.Resources.Requests[corev1.ResourceStorage]; got.String() != "2Gi" {
			t.Errorf("%s asks for %s, want 2Gi", name, got.String())
		}
		claim.Status.Capacity = claim.Spec.Resources.Requests
		e.must(e.api.Status().Update(t.Context(), claim))
	}
	e.mustSettle()
	e.mustBe(mysqlv1.ConditionUpToDate, metav1.ConditionTrue, mysqlv1.ReasonAllUpToDate)
	if diff := cmp.Diff(pods, e.podUIDs()); diff != "" {
		t.Errorf("pods were replaced (-before +after):\n%s", diff)
	}
}

func TestVolumesDoNotGrowWhereTheirClassRefuses(t *testing.T) {
	e := newEnv(t, 1)
	e.storageClass("rigid", false)
	cluster := e.cluster(1)
	cluster.Spec.Storage.StorageClassName = new("rigid")
	e.create(cluster)
	e.mustSettle()
	e.edit(func(c *mysqlv1.MySQLCluster) { c.Spec.Storage.Size = resource.MustParse("2Gi") })
	e.mustSettle()
	c := e.mustBe(mysqlv1.ConditionUpToDate, metav1.ConditionFalse, mysqlv1.ReasonStorageGrowRefused)
	if !strings.Contains(c.Message, "StorageClass rigid does not allow expansion") {
		t.Errorf("message is %q", c.Message)
	}
	set := &appsv1.StatefulSet{}
	e.must(e.api.Get(t.Context(), e.key, set))
	if got := templateSize(set); got.String() != "1Gi" {
		t.Errorf("new volumes would have %s, want 1Gi like the others", got.String())
	}
}

func TestSpecThatCannotBeCarriedOutLeavesTheObjectsAlone(t *testing.T) {
	e := readyCluster(t, 1)
	before := &appsv1.StatefulSet{}
	e.must(e.api.Get(t.Context(), e.key, before))
	e.edit(func(c *mysqlv1.MySQLCluster) {
		c.Spec.PodTemplate = &mysqlv1.PodTemplateSpec{Spec: &runtime.RawExtension{Raw: []byte(`{"hostNetwork":true}`)}}
	})
	if err := e.settle(); err == nil {
		t.Error("the reconcile gave no error: nobody would be told")
	}
	e.mustBe(mysqlv1.ConditionUpToDate, metav1.ConditionFalse, mysqlv1.ReasonInvalidSpec)
	e.mustBe(mysqlv1.ConditionAvailable, metav1.ConditionTrue, mysqlv1.ReasonPrimaryOpen)
	after := &appsv1.StatefulSet{}
	e.must(e.api.Get(t.Context(), e.key, after))
	if before.Generation != after.Generation {
		t.Errorf("the StatefulSet changed from generation %d to %d", before.Generation, after.Generation)
	}
}
