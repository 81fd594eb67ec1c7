// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	controllermetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/testing/kubeapi"
)

// server is the API server of this package's tests.
var server kubeapi.Server

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	server.Main(m)
}

// operatorUser is who the operator is in these tests: nobody but the bearer of the generated role.
const operatorUser = "operator-under-test"

// bindRole gives operatorUser what config/rbac/role.yaml says, and no more.
func bindRole(t *testing.T, c client.Client) {
	t.Helper()
	text, err := os.ReadFile("../../config/rbac/role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{}
	if err := yaml.Unmarshal(text, role); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: operatorUser},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: operatorUser}},
	}
	for _, object := range []client.Object{role, binding} {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

// watchedTransport counts the operator's writes and the requests it was not allowed to make.
type watchedTransport struct {
	next      http.RoundTripper
	writes    atomic.Int64
	forbidden atomic.Pointer[string]
}

func (w *watchedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := w.next.RoundTrip(request)
	if err == nil && response.StatusCode == http.StatusForbidden {
		what := request.Method + " " + request.URL.Path
		w.forbidden.Store(&what)
	}
	if request.Method != http.MethodGet && !strings.Contains(request.URL.Path, "/events") {
		w.writes.Add(1)
	}
	return response, err
}

// startOperatorUnderTest runs the whole operator as operatorUser, until the test ends.
func startOperatorUnderTest(t *testing.T) *watchedTransport {
	t.Helper()
	config := server.Config(t)
	config.Impersonate = rest.ImpersonationConfig{UserName: operatorUser}
	watched := &watchedTransport{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		watched.next = next
		return watched
	})
	options, err := parseOperatorOptions([]string{
		"--operator-image=ghcr.io/keelson-dev/mysql-operator:test", "--health-probe-bind-address=0",
	}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- startOperator(t.Context(), config, options) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil { // t.Context has ended by now
			t.Errorf("operator ended with %v", err)
		}
	})
	return watched
}

func reconciles(t *testing.T) float64 {
	t.Helper()
	families, err := controllermetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for _, family := range families {
		if family.GetName() != "mysql_operator_reconciles_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			sum += m.GetCounter().GetValue()
		}
	}
	return sum
}

func TestOperatorWorksWithItsRoleAloneAndComesToRest(t *testing.T) {
	const patience = 60 * time.Second
	g := gomega.NewWithT(t)
	admin := server.Client(t)
	bindRole(t, admin)
	watched := startOperatorUnderTest(t)
	key := types.NamespacedName{Namespace: server.Namespace(t), Name: "db"}
	cluster := &mysqlv1.MySQLCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec:       mysqlv1.MySQLClusterSpec{Version: "9.7.4", Storage: mysqlv1.StorageSpec{Size: resource.MustParse("1Gi")}},
	}
	if err := admin.Create(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	g.Eventually(func() string {
		if err := admin.Get(t.Context(), key, cluster); err != nil {
			return err.Error()
		}
		return cluster.Status.Phase
	}, patience).Should(gomega.Equal("Pending"), "nothing runs the pods here, so the cluster waits")

	// A deleted child is noticed through the watch and comes back.
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: naming.ServiceRW(key.Name)}}
	if err := admin.Delete(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	g.Eventually(func() error {
		return admin.Get(t.Context(), client.ObjectKeyFromObject(service), service)
	}, patience).Should(gomega.Succeed())

	// From here on a reconcile finds everything as it wants it.
	before := reconciles(t)
	g.Eventually(func() float64 { return reconciles(t) }, patience).Should(gomega.BeNumerically(">", before+2))
	writes := watched.writes.Load()
	before = reconciles(t)
	g.Eventually(func() float64 { return reconciles(t) }, patience).Should(gomega.BeNumerically(">", before+2))
	if after := watched.writes.Load(); after != writes {
		t.Errorf("reconciles of a cluster at rest made %d writes, want 0", after-writes)
	}

	if err := admin.Delete(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	g.Eventually(func() bool {
		return apierrors.IsNotFound(admin.Get(t.Context(), key, cluster))
	}, patience).Should(gomega.BeTrue(), "the finalizer goes when there are no pods")
	if what := watched.forbidden.Load(); what != nil {
		t.Errorf("the operator's role does not let it %s", *what)
	}
}
