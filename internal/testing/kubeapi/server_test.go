// SPDX-License-Identifier: Apache-2.0

package kubeapi_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/testing/kubeapi"
)

// server is the API server of this package's tests.
var server kubeapi.Server

func TestMain(m *testing.M) { server.Main(m) }

// newCluster is the smallest cluster that the definition takes.
func newCluster(t *testing.T, name string) *mysqlv1.MySQLCluster {
	t.Helper()

	return &mysqlv1.MySQLCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: server.Namespace(t), Name: name},
		Spec: mysqlv1.MySQLClusterSpec{
			Version: "9.7.4",
			Storage: mysqlv1.StorageSpec{Size: resource.MustParse("1Gi")},
		},
	}
}

func TestClusterIsCreatedAndRead(t *testing.T) {
	c := server.Client(t)
	cluster := newCluster(t, "sample")
	if err := c.Create(t.Context(), cluster); err != nil {
		t.Fatalf("create cluster: %v", err)
	}
	read := &mysqlv1.MySQLCluster{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(cluster), read); err != nil {
		t.Fatalf("read cluster: %v", err)
	}
	if read.UID == "" || read.Generation != 1 {
		t.Errorf("the API server gave uid %q and generation %d, want a uid and generation 1", read.UID, read.Generation)
	}
	if read.Spec.Replicas == nil || *read.Spec.Replicas != 3 {
		t.Errorf("spec.replicas is %v, want the default of 3 that the definition sets", read.Spec.Replicas)
	}
}

func TestClusterOfNegativeSizeIsRefused(t *testing.T) {
	cluster := newCluster(t, "negative")
	negative := int32(-1)
	cluster.Spec.Replicas = &negative
	if err := server.Client(t).Create(t.Context(), cluster); !apierrors.IsInvalid(err) {
		t.Errorf("creating a cluster with -1 replicas gave %v, want an error of kind Invalid", err)
	}
}
