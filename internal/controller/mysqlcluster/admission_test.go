// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/validation"
)

// plain is a spec without anything wrong.
func plain(namespace string) *mysqlv1.MySQLCluster {
	return &mysqlv1.MySQLCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "a-"},
		Spec: mysqlv1.MySQLClusterSpec{
			Replicas: new(int32(3)), Version: "9.7.4", Storage: mysqlv1.StorageSpec{Size: resource.MustParse("10Gi")},
		},
	}
}

func mustRefuse(t *testing.T, err error, want string) {
	t.Helper()
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("the API server answered %v, want a refusal that says %q", err, want)
	}
}

func TestBadSpecIsRefusedWithASentence(t *testing.T) {
	c, namespace := server.Client(t), server.Namespace(t)
	tests := map[string]struct {
		change func(*mysqlv1.MySQLCluster)
		want   string
	}{
		"MySQL 8.0": {
			func(c *mysqlv1.MySQLCluster) { c.Spec.Version = "8.0.36" },
			"MySQL 8.0 is at its end of life and not supported: use a version of series 8.4 or 9.7",
		},
		"an image of MySQL 8.0": {
			func(c *mysqlv1.MySQLCluster) { c.Spec.Version, c.Spec.Image = "", "docker.io/library/mysql:8.0" },
			"use an image of series 8.4 or 9.7",
		},
		"an unknown series": {
			func(c *mysqlv1.MySQLCluster) { c.Spec.Version = "9.1.0" },
			"version must be a full version of a supported series",
		},
		"half a version": {
			func(c *mysqlv1.MySQLCluster) { c.Spec.Version = "9.7" },
			"for example 9.7.4",
		},
		"neither version nor image": {
			func(c *mysqlv1.MySQLCluster) { c.Spec.Version = "" },
			"set spec.version",
		},
		"no instance": {
			func(c *mysqlv1.MySQLCluster) { c.Spec.Replicas = new(int32(0)) },
			"spec.replicas",
		},
		"a name over 40 characters": {
			func(c *mysqlv1.MySQLCluster) { c.Name = strings.Repeat("a", 41) },
			"may have at most 40 characters",
		},
		"a name that no Service can have": {
			func(c *mysqlv1.MySQLCluster) { c.Name = "1db" },
			"must be a DNS label that begins with a letter",
		},
		"minInSync above replicas": {
			func(c *mysqlv1.MySQLCluster) { c.Spec.Replication.MinInSync = new(int32(4)) },
			"the primary would never open",
		},
		"server_id": {config("server_id", "7"), "the operator owns"},
		"gtid_mode": {config("gtid_mode", "OFF"), "the operator owns"},
		"log_bin":   {config("log_bin", "x"), "the operator owns"},
		"a semi-sync variable": {
			config("rpl_semi_sync_source_timeout", "1"), "the operator owns",
		},
		"a value that is too long": {
			config("init_connect", strings.Repeat("x", 1025)), "at most 1024 characters",
		},
		"a database of MySQL's own": {
			func(c *mysqlv1.MySQLCluster) {
				c.Spec.Bootstrap = &mysqlv1.BootstrapSpec{InitDB: &mysqlv1.InitDBSpec{Database: "mysql"}}
			},
			"may not be one of MySQL's own schemas",
		},
		"an owner with a reserved name": {
			func(c *mysqlv1.MySQLCluster) {
				c.Spec.Bootstrap = &mysqlv1.BootstrapSpec{InitDB: &mysqlv1.InitDBSpec{Owner: "keelson_x"}}
			},
			"reserved",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := plain(namespace)
			test.change(cluster)
			mustRefuse(t, c.Create(t.Context(), cluster), test.want)
		})
	}
}

// TestStorageOfNothingIsRefused sends what a user writes: our own types leave a size of zero out.
func TestStorageOfNothingIsRefused(t *testing.T) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(plain(server.Namespace(t)))
	if err != nil {
		t.Fatal(err)
	}
	cluster := &unstructured.Unstructured{Object: content}
	cluster.SetGroupVersionKind(mysqlv1.GroupVersion.WithKind("MySQLCluster"))
	if err := unstructured.SetNestedField(cluster.Object, "0", "spec", "storage", "size"); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, server.Client(t).Create(t.Context(), cluster), "storage size must be greater than zero")
}

func config(key, value string) func(*mysqlv1.MySQLCluster) {
	return func(c *mysqlv1.MySQLCluster) { c.Spec.MySQL.Config = map[string]string{key: value} }
}

func TestBadChangeOfALivingClusterIsRefusedWithASentence(t *testing.T) {
	c, namespace := server.Client(t), server.Namespace(t)
	tests := map[string]struct {
		change func(*mysqlv1.MySQLCluster)
		want   string
	}{
		"fewer instances": {
			func(c *mysqlv1.MySQLCluster) { c.Spec.Replicas = new(int32(1)) }, "replicas cannot be lowered yet",
		},
		"less storage": {
			func(c *mysqlv1.MySQLCluster) { c.Spec.Storage.Size = resource.MustParse("5Gi") }, "storage size cannot shrink",
		},
		"another series": {
			func(c *mysqlv1.MySQLCluster) { c.Spec.Version = "8.4.6" }, "stays within its MySQL series",
		},
		"another series by an image": {
			func(c *mysqlv1.MySQLCluster) { c.Spec.Image = "mysql:8.4.6" }, "stays within its MySQL series",
		},
		"another series by an image alone": {
			func(c *mysqlv1.MySQLCluster) {
				c.Spec.Version, c.Spec.Image = "", "registry.example:5000/a/mysql-server:8.4-own@sha256:00"
			},
			"stays within its MySQL series",
		},
		"another StorageClass": {
			func(c *mysqlv1.MySQLCluster) { c.Spec.Storage.StorageClassName = new("other") }, "storageClassName of a living cluster cannot be changed yet",
		},
		"another bootstrap": {
			func(c *mysqlv1.MySQLCluster) {
				c.Spec.Bootstrap = &mysqlv1.BootstrapSpec{InitDB: &mysqlv1.InitDBSpec{Database: "later"}}
			},
			"bootstrap describes how the cluster was made",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := plain(namespace)
			if err := c.Create(t.Context(), cluster); err != nil {
				t.Fatal(err)
			}
			test.change(cluster)
			mustRefuse(t, c.Update(t.Context(), cluster), test.want)
		})
	}
}

func TestGoodChangesOfALivingClusterAreAccepted(t *testing.T) {
	c := server.Client(t)
	cluster := plain(server.Namespace(t))
	if err := c.Create(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*mysqlv1.MySQLCluster){
		"more instances":              func(c *mysqlv1.MySQLCluster) { c.Spec.Replicas = new(int32(5)) },
		"more storage":                func(c *mysqlv1.MySQLCluster) { c.Spec.Storage.Size = resource.MustParse("20Gi") },
		"another patch":               func(c *mysqlv1.MySQLCluster) { c.Spec.Version = "9.7.5" },
		"an image of the same series": func(c *mysqlv1.MySQLCluster) { c.Spec.Image = "registry.example:5000/mysql:9.7.6" },
		"an image of its own numbers": func(c *mysqlv1.MySQLCluster) { c.Spec.Image = "registry.example/shop-db:1.2.3" },
		"another setting":             config("max_connections", "500"),
	} {
		change(cluster)
		if err := c.Update(t.Context(), cluster); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAnImageFixesTheSeriesToo: without a version a cluster would have had no series to stay within.
func TestAnImageFixesTheSeriesToo(t *testing.T) {
	c := server.Client(t)
	cluster := plain(server.Namespace(t))
	cluster.Spec.Version, cluster.Spec.Image = "", "docker.io/library/mysql:9.7.4"
	if err := c.Create(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	cluster.Spec.Version, cluster.Spec.Image = "8.4.6", ""
	mustRefuse(t, c.Update(t.Context(), cluster), "stays within its MySQL series")
}

// TestDefaultsOfTheAPIPassValidation: the operator judges what the API server stored, so the two must agree.
func TestDefaultsOfTheAPIPassValidation(t *testing.T) {
	c := server.Client(t)
	cluster := plain(server.Namespace(t))
	if err := c.Create(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil {
		t.Fatal(err)
	}
	if errs := validation.ValidateCreate(cluster); len(errs) > 0 {
		t.Errorf("the operator refuses what the API server accepted: %v", errs.ToAggregate())
	}
}
