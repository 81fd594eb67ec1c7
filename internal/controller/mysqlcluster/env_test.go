// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kubeevents "k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/events"
	"github.com/keelson-dev/mysql-operator/internal/metrics"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/planner"
	"github.com/keelson-dev/mysql-operator/internal/resources"
	"github.com/keelson-dev/mysql-operator/internal/testing/kubeapi"
)

// server is the API server of this package's tests.
var server kubeapi.Server

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	server.Main(m)
}

// clusterName is the name of every cluster here: the planner's model calls its instances c-0, c-1, ….
const clusterName = "c"

// env is one cluster in a namespace of its own: the real API server, stand-ins for the StatefulSet controller and the
// kubelets, modelled instances, and the real reconciler, driven step by step.
type env struct {
	t         *testing.T
	key       types.NamespacedName
	api       client.Client // the test's own, and the stand-ins'
	clock     *clocktesting.FakePassiveClock
	sim       *simInstances
	transport *countingTransport
	sink      *kubeevents.FakeRecorder
	r         *Reconciler
	// unpullable makes pods with that image fail as the kubelet would.
	unpullable string
}

func newEnv(t *testing.T, replicas int) *env {
	t.Helper()
	key := types.NamespacedName{Namespace: server.Namespace(t), Name: clusterName}
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	e := &env{
		t: t, key: key, api: server.Client(t), clock: clock, sim: newSim(key, replicas, clock),
		sink: kubeevents.NewFakeRecorder(1000),
	}
	// The API server has 254 addresses for Services, and nobody else gives them back.
	t.Cleanup(func() {
		services := client.InNamespace(key.Namespace)
		if err := e.api.DeleteAllOf(context.WithoutCancel(t.Context()), &corev1.Service{}, services); err != nil {
			t.Errorf("delete Services: %v", err)
		}
	})
	e.restart(0)
	return e
}

// restart makes a new operator, which knows nothing; it dies after its k-th write (0: never).
func (e *env) restart(k int) {
	e.t.Helper()
	config := server.Config(e.t)
	e.transport = &countingTransport{dieAfter: k}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		e.transport.next = next
		return e.transport
	})
	config.QPS = -1
	c, err := client.New(config, client.Options{Scheme: kubeapi.Scheme(e.t)})
	if err != nil {
		e.t.Fatal(err)
	}
	m, err := metrics.New(prometheus.NewRegistry())
	if err != nil {
		e.t.Fatal(err)
	}
	e.r = &Reconciler{
		Client: c, Uncached: c, Instances: e.sim,
		Platform: resources.Platform{
			OperatorImage: "ghcr.io/keelson-dev/mysql-operator:test", MySQLRepository: "docker.io/library/mysql",
			OperatorNamespace: naming.OperatorNamespace,
		},
		Monitoring: func() bool { return false },
		Events:     events.NewRecorder(e.sink, e.clock),
		Metrics:    m,
		Clock:      e.clock,
		Plan:       planner.Plan,
	}
}

// errKilled is what a dead operator's requests come back with.
var errKilled = errors.New("the operator was killed")

// countingTransport counts the writes of the operator, and lets none through after the one after which it dies.
type countingTransport struct {
	next     http.RoundTripper
	mu       sync.Mutex
	writes   int
	log      []string
	dieAfter int
	// faultAt is the write that goes wrong, once: see fault.
	faultAt int
	// refuseStatus lets no status be written but status.ha.
	refuseStatus bool
}

// errAfterCommit is a connection that broke when the API server had done what was asked.
var errAfterCommit = errors.New("connection reset by peer")

// errNoStatus is what refuseStatus gives.
var errNoStatus = errors.New("the status cannot be written")

func (c *countingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	c.mu.Lock()
	dead := c.isDead()
	if request.Method != http.MethodGet && !dead {
		c.writes++
		c.log = append(c.log, request.Method+" "+request.URL.Path)
	}
	faulty := request.Method != http.MethodGet && c.writes == c.faultAt
	c.mu.Unlock()
	switch {
	case dead:
		return nil, errKilled
	case c.refuseStatus && request.Method == http.MethodPatch && strings.HasSuffix(request.URL.Path, "/status"):
		return nil, errNoStatus
	case faulty:
		return c.fault(request)
	}
	return c.next.RoundTrip(request)
}

// fault lets a write go wrong: an even one is refused as a conflict, of an odd one only the answer is lost.
func (c *countingTransport) fault(request *http.Request) (*http.Response, error) {
	if c.faultAt%2 == 0 {
		body := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409,"message":"changed"}`
		return &http.Response{
			StatusCode: http.StatusConflict, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(body)), Request: request,
		}, nil
	}
	response, err := c.next.RoundTrip(request)
	if err == nil {
		_ = response.Body.Close()
	}
	return nil, errAfterCommit
}

func (c *countingTransport) isDead() bool { return c.dieAfter > 0 && c.writes >= c.dieAfter }

func (c *countingTransport) count() (int, []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writes, c.log
}

// cluster returns the spec that most tests use.
func (e *env) cluster(replicas int32) *mysqlv1.MySQLCluster {
	return &mysqlv1.MySQLCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.key.Namespace, Name: e.key.Name},
		Spec: mysqlv1.MySQLClusterSpec{
			Replicas: &replicas,
			Version:  "9.7.4",
			Storage:  mysqlv1.StorageSpec{Size: resource.MustParse("1Gi"), StorageClassName: new("fast")},
		},
	}
}

func (e *env) create(object client.Object) {
	e.t.Helper()
	if err := e.api.Create(e.t.Context(), object); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) get() *mysqlv1.MySQLCluster {
	e.t.Helper()
	cluster := &mysqlv1.MySQLCluster{}
	if err := e.api.Get(e.t.Context(), e.key, cluster); err != nil {
		e.t.Fatal(err)
	}
	return cluster
}

// edit changes the cluster as a user would.
func (e *env) edit(change func(*mysqlv1.MySQLCluster)) {
	e.t.Helper()
	cluster := e.get()
	change(cluster)
	if err := e.api.Update(e.t.Context(), cluster); err != nil {
		e.t.Fatal(err)
	}
}

// reconcile runs one reconcile.
func (e *env) reconcile() error {
	_, err := e.r.Reconcile(e.t.Context(), ctrl.Request{NamespacedName: e.key})
	return err
}

// round lets everybody do one thing: the stand-ins, the operator, the instances.
func (e *env) round() (quiet bool, err error) {
	e.t.Helper()
	before, _ := e.transport.count()
	orders := e.sim.orderCount()
	changed := e.kubernetes()
	err = e.reconcile()
	e.sim.act()
	e.clock.SetTime(e.clock.Now().Add(time.Second))
	after, _ := e.transport.count()
	return after == before && orders == e.sim.orderCount() && !changed, err
}

// settle runs rounds until three in a row change nothing. It returns the last reconcile's error.
func (e *env) settle() error {
	e.t.Helper()
	const enough = 300
	still := 0
	var last error
	for range enough {
		quiet, err := e.round()
		last = err
		still++
		if !quiet {
			still = 0
		}
		if still == 3 || errors.Is(err, errKilled) {
			return last
		}
	}
	_, log := e.transport.count()
	e.t.Fatalf("not quiet after %d rounds; last error %v; last writes %v", enough, last, log[max(0, len(log)-10):])
	return last
}

// mustSettle is settle, and fails the test on an error.
func (e *env) mustSettle() {
	e.t.Helper()
	if err := e.settle(); err != nil {
		e.t.Fatalf("reconcile: %v", err)
	}
}

func (e *env) condition(want mysqlv1.ConditionType) metav1.Condition {
	e.t.Helper()
	for _, c := range e.get().Status.Conditions {
		if c.Type == string(want) {
			return c
		}
	}
	e.t.Fatalf("there is no condition %s", want)
	return metav1.Condition{}
}

func (e *env) mustBe(want mysqlv1.ConditionType, status metav1.ConditionStatus, reason mysqlv1.Reason) metav1.Condition {
	e.t.Helper()
	c := e.condition(want)
	if c.Status != status || c.Reason != string(reason) {
		e.t.Fatalf("condition %s is %s %s (%s), want %s %s", want, c.Status, c.Reason, c.Message, status, reason)
	}
	return c
}

// kubernetes does what the StatefulSet controller, the garbage collector and the kubelets would, and reports whether
// it changed anything.
func (e *env) kubernetes() bool {
	e.t.Helper()
	set := &appsv1.StatefulSet{}
	err := e.api.Get(e.t.Context(), e.key, set)
	switch {
	case apierrors.IsNotFound(err):
		return e.collectPods(nil)
	case err != nil:
		e.t.Fatal(err)
	case set.DeletionTimestamp != nil: // orphaned: the garbage collector lets the pods be and the object go
		set.Finalizers = nil
		e.must(e.api.Update(e.t.Context(), set))
		return true
	}
	revision := revisionOf(set)
	changed := e.updateSet(set, revision)
	for i := range int(*set.Spec.Replicas) {
		name := naming.Instance(e.key.Name, i)
		claim := e.ensureClaim(set, name)
		pod := e.ensurePod(set, name, revision)
		ran := e.runPod(name)
		changed = claim || pod || ran || changed
	}
	return changed
}

func (e *env) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

func revisionOf(set *appsv1.StatefulSet) string {
	text, err := json.Marshal(set.Spec.Template)
	if err != nil {
		panic(err) // Kubernetes' own types are always writable
	}
	sum := sha256.Sum256(text)
	return set.Name + "-" + hex.EncodeToString(sum[:5])
}

func (e *env) updateSet(set *appsv1.StatefulSet, revision string) bool {
	if set.Status.ObservedGeneration == set.Generation && set.Status.UpdateRevision == revision {
		return false
	}
	set.Status.ObservedGeneration, set.Status.UpdateRevision = set.Generation, revision
	e.must(e.api.Status().Update(e.t.Context(), set))
	return true
}

// collectPods deletes the pods of a StatefulSet that is gone, unless they were orphaned.
func (e *env) collectPods(keep map[string]bool) bool {
	e.t.Helper()
	list := &corev1.PodList{}
	e.must(e.api.List(e.t.Context(), list, client.InNamespace(e.key.Namespace)))
	cluster := &mysqlv1.MySQLCluster{}
	err := e.api.Get(e.t.Context(), e.key, cluster)
	if err == nil && cluster.DeletionTimestamp == nil {
		return false // deleted with Orphan
	}
	for i := range list.Items {
		if !keep[list.Items[i].Name] {
			e.must(e.api.Delete(e.t.Context(), &list.Items[i], client.GracePeriodSeconds(0)))
			e.sim.setPod(list.Items[i].Name, false)
		}
	}
	return len(list.Items) > 0
}

func (e *env) ensureClaim(set *appsv1.StatefulSet, name string) bool {
	e.t.Helper()
	template := set.Spec.VolumeClaimTemplates[0]
	claim := &corev1.PersistentVolumeClaim{}
	key := types.NamespacedName{Namespace: set.Namespace, Name: naming.PVC(name)}
	err := e.api.Get(e.t.Context(), key, claim)
	if err == nil {
		return false
	}
	claim = &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: set.Spec.Selector.MatchLabels},
		Spec:       *template.Spec.DeepCopy(),
	}
	e.create(claim)
	claim.Status.Phase = corev1.ClaimBound
	claim.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]}
	e.must(e.api.Status().Update(e.t.Context(), claim))
	return true
}

func (e *env) ensurePod(set *appsv1.StatefulSet, name, revision string) bool {
	e.t.Helper()
	pod := &corev1.Pod{}
	err := e.api.Get(e.t.Context(), types.NamespacedName{Namespace: set.Namespace, Name: name}, pod)
	if err == nil {
		return false
	}
	e.sim.setPod(name, false)
	pod = &corev1.Pod{ObjectMeta: *set.Spec.Template.ObjectMeta.DeepCopy(), Spec: *set.Spec.Template.Spec.DeepCopy()}
	pod.Namespace, pod.Name = set.Namespace, name
	pod.Labels[appsv1.ControllerRevisionHashLabelKey] = revision
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: naming.VolumeData, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: naming.PVC(name)},
	}})
	e.create(pod)
	return true
}

// runPod does what a kubelet does: it starts the pod, or says why it cannot, and reports readiness.
func (e *env) runPod(name string) bool {
	e.t.Helper()
	pod := &corev1.Pod{}
	e.must(e.api.Get(e.t.Context(), types.NamespacedName{Namespace: e.key.Namespace, Name: name}, pod))
	before := pod.Status.DeepCopy()
	container := corev1.ContainerStatus{Name: naming.ContainerMySQL, Image: pod.Spec.Containers[0].Image}
	state := corev1.ConditionFalse
	if pod.Spec.Containers[0].Image == e.unpullable {
		container.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}
	} else {
		e.sim.setPod(name, true)
		n, _ := naming.Ordinal(e.key.Name, name)
		pod.Status.PodIP = fmt.Sprintf("10.0.0.%d", n+1)
		pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
		pod.Status.Phase = corev1.PodRunning
		container.State.Running = &corev1.ContainerStateRunning{}
		if e.sim.isReady(name) {
			state, container.Ready = corev1.ConditionTrue, true
		}
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{container}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: state}}
	if same(before, &pod.Status) {
		return false
	}
	e.must(e.api.Status().Update(e.t.Context(), pod))
	return true
}

func same(a, b *corev1.PodStatus) bool {
	return a.PodIP == b.PodIP && a.Phase == b.Phase &&
		equality.Semantic.DeepEqual(a.Conditions, b.Conditions) &&
		equality.Semantic.DeepEqual(a.ContainerStatuses, b.ContainerStatuses)
}
