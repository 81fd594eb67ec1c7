// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/mycnf"
	"github.com/keelson-dev/mysql-operator/internal/version"
)

// valid returns a cluster that nothing is wrong with.
func valid() *mysqlv1.MySQLCluster {
	return &mysqlv1.MySQLCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"},
		Spec: mysqlv1.MySQLClusterSpec{
			Replicas:       new(int32(3)),
			Version:        "9.7.4",
			Storage:        mysqlv1.StorageSpec{Size: resource.MustParse("10Gi")},
			Resources:      corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}},
			MySQL:          mysqlv1.MySQLSpec{Config: map[string]string{"max_connections": "500", "sql_mode": ""}},
			Replication:    mysqlv1.ReplicationSpec{MinInSync: new(int32(2))},
			Bootstrap:      &mysqlv1.BootstrapSpec{InitDB: &mysqlv1.InitDBSpec{Database: "app", Owner: "app"}},
			DeletionPolicy: mysqlv1.DeletionRetain,
		},
	}
}

type spec = mysqlv1.MySQLClusterSpec

// row is one thing that is wrong, and what is said about it.
type row struct {
	change func(*spec)
	field  string
	want   string
}

func createRows() map[string]row {
	config := func(key, value string) func(*spec) {
		return func(s *spec) { s.MySQL.Config = map[string]string{key: value} }
	}
	limits := func(name corev1.ResourceName, limit, request string) func(*spec) {
		return func(s *spec) {
			s.Resources.Limits = corev1.ResourceList{name: resource.MustParse(limit)}
			s.Resources.Requests = corev1.ResourceList{name: resource.MustParse(request)}
		}
	}
	database := func(name string) func(*spec) { return func(s *spec) { s.Bootstrap.InitDB.Database = name } }
	owner := func(name string) func(*spec) { return func(s *spec) { s.Bootstrap.InitDB.Owner = name } }
	image := func(name string) func(*spec) { return func(s *spec) { s.Image = name } }
	ver := func(v string) func(*spec) { return func(s *spec) { s.Version = v } }
	template := func(labels, annotations map[string]string) func(*spec) {
		return func(s *spec) { s.PodTemplate = &mysqlv1.PodTemplateSpec{Labels: labels, Annotations: annotations} }
	}
	return map[string]row{
		"neither version nor image":       {ver(""), "spec.version", messageNoVersion},
		"MySQL 8.0":                       {ver("8.0.44"), "spec.version", version.MessageEndOfLife},
		"MySQL 8.0 without a patch":       {ver("8.0"), "spec.version", version.MessageEndOfLife},
		"an unknown series":               {ver("9.6.0"), "spec.version", version.MessageUnknownSeries},
		"a series without a patch":        {ver("9.7"), "spec.version", version.MessageUnknownSeries},
		"a version with a suffix":         {ver("9.7.4-debian"), "spec.version", version.MessageUnknownSeries},
		"an image of MySQL 8.0":           {image("docker.io/library/mysql:8.0.44"), "spec.image", messageImageEndOfLife},
		"an image of MySQL 8.0, suffixed": {image("mysql:8.0-debian"), "spec.image", messageImageEndOfLife},
		"an image of an unknown series":   {image("registry:5000/mysql:9.6.0@sha256:00"), "spec.image", messageImageSeries},
		"an image of a future series":     {image("mysql/mysql-server:10.1"), "spec.image", messageImageSeries},
		"no instance":                     {func(s *spec) { s.Replicas, s.Replication.MinInSync = new(int32(0)), nil }, "spec.replicas", messageCount},
		"ten instances":                   {func(s *spec) { s.Replicas = new(int32(10)) }, "spec.replicas", messageCount},
		"minInSync 0":                     {func(s *spec) { s.Replication.MinInSync = new(int32(0)) }, "spec.replication.minInSync", messageCount},
		"minInSync above replicas":        {func(s *spec) { s.Replication.MinInSync = new(int32(4)) }, "spec.replication.minInSync", messageMinInSync},
		"minInSync above the default": {
			func(s *spec) { s.Replicas, s.Replication.MinInSync = nil, new(int32(4)) }, "spec.replication.minInSync", messageMinInSync,
		},
		"no storage":                       {func(s *spec) { s.Storage.Size = resource.Quantity{} }, "spec.storage.size", messageStorageZero},
		"negative storage":                 {func(s *spec) { s.Storage.Size = resource.MustParse("-1Gi") }, "spec.storage.size", messageStorageZero},
		"too little memory":                {limits("memory", "256Mi", "256Mi"), "spec.resources.limits[memory]", messageMemory},
		"a negative limit":                 {func(s *spec) { s.Resources.Limits["cpu"] = resource.MustParse("-1") }, "spec.resources.limits[cpu]", messageNegative},
		"a negative request":               {limits("cpu", "1", "-1"), "spec.resources.requests[cpu]", messageNegative},
		"a request above its limit":        {limits("cpu", "1", "2"), "spec.resources.requests[cpu]", messageAboveLimit},
		"an owned key":                     {config("server_id", "5"), "spec.mysql.config[server_id]", mycnf.MessageOwned},
		"a key of an owned family":         {config("rpl_semi_sync_source_enabled", "0"), "spec.mysql.config[rpl_semi_sync_source_enabled]", mycnf.MessageOwned},
		"an owned key in another spelling": {config("gtid-mode", "OFF"), "spec.mysql.config[gtid-mode]", mycnf.MessageOwned},
		"an owned key behind a prefix":     {config("loose_log_bin", "x"), "spec.mysql.config[loose_log_bin]", mycnf.MessageOwned},
		"a key with a dash":                {config("max-connections", "5"), "spec.mysql.config[max-connections]", messageConfigKey},
		"a key in upper case":              {config("Max_connections", "5"), "spec.mysql.config[Max_connections]", messageConfigKey},
		"a value of two lines":             {config("init_connect", "a\nb"), "spec.mysql.config[init_connect]", messageConfigValue},
		"a value that is too long":         {config("init_connect", strings.Repeat("x", 1025)), "spec.mysql.config[init_connect]", messageConfigValue},
		"too many keys": {func(s *spec) {
			for i := range 129 {
				s.MySQL.Config["x"+strconv.Itoa(i)] = ""
			}
		}, "spec.mysql.config", messageConfigCount},
		"a schema of MySQL's own":           {database("sys"), "spec.bootstrap.initdb.database", messageDatabase},
		"a database with a dash":            {database("my-app"), "spec.bootstrap.initdb.database", messageIdentifier},
		"a database with a quote inside":    {database("a`b"), "spec.bootstrap.initdb.database", messageIdentifier},
		"a database that is too long":       {database(strings.Repeat("d", 65)), "spec.bootstrap.initdb.database", "may not be more than 64 bytes"},
		"root as owner":                     {owner("root"), "spec.bootstrap.initdb.owner", messageOwner},
		"the operator's own as owner":       {owner("keelson_clone"), "spec.bootstrap.initdb.owner", messageOwner},
		"MySQL's own as owner":              {owner("mysql_x"), "spec.bootstrap.initdb.owner", messageOwner},
		"an owner that begins with a digit": {owner("1app"), "spec.bootstrap.initdb.owner", messageIdentifier},
		"an owner that is too long":         {owner(strings.Repeat("o", 33)), "spec.bootstrap.initdb.owner", "may not be more than 32 bytes"},
		"a pull secret without a name": {
			func(s *spec) { s.ImagePullSecrets = []corev1.LocalObjectReference{{}} }, "spec.imagePullSecrets[0].name", messagePullSecret,
		},
		"an unknown deletion policy": {func(s *spec) { s.DeletionPolicy = "Keep" }, "spec.deletionPolicy", messagePolicy},
		"a label of the operator": {
			template(map[string]string{"mysql.keelson.dev/role": "primary"}, nil), "spec.podTemplate.labels[mysql.keelson.dev/role]", messageLabels,
		},
		"a recommended label": {
			template(map[string]string{"app.kubernetes.io/name": "x"}, nil), "spec.podTemplate.labels[app.kubernetes.io/name]", messageLabels,
		},
		"an annotation of the operator": {
			template(nil, map[string]string{"mysql.keelson.dev/fenced": "true"}), "spec.podTemplate.annotations[mysql.keelson.dev/fenced]", messageAnnotations,
		},
	}
}

func updateRows() map[string]row {
	return map[string]row{
		"fewer instances":       {func(s *spec) { s.Replicas = new(int32(2)) }, "spec.replicas", messageReplicasDown},
		"another series":        {func(s *spec) { s.Version = "8.4.6" }, "spec.version", messageSeriesChange},
		"an image of another":   {func(s *spec) { s.Image = "mysql:8.4.6" }, "spec.image", messageSeriesChange},
		"smaller volumes":       {func(s *spec) { s.Storage.Size = resource.MustParse("9Gi") }, "spec.storage.size", messageStorageShrink},
		"another storage class": {func(s *spec) { s.Storage.StorageClassName = new("fast") }, "spec.storage.storageClassName", messageStorageClass},
		"another database":      {func(s *spec) { s.Bootstrap.InitDB.Database = "other" }, "spec.bootstrap", messageBootstrapChange},
		"no bootstrap any more": {func(s *spec) { s.Bootstrap = nil }, "spec.bootstrap", messageBootstrapChange},
	}
}

// one fails unless there is exactly the one wanted error.
func one(t *testing.T, errs field.ErrorList, want row) {
	t.Helper()
	if len(errs) != 1 {
		t.Fatalf("got %d errors, want one: %v", len(errs), errs)
	}
	if diff := cmp.Diff([]string{want.field, want.want}, []string{errs[0].Field, errs[0].Detail}); diff != "" {
		t.Errorf("error mismatch (-want +got):\n%s", diff)
	}
}

func TestValidateCreate(t *testing.T) {
	for name, c := range createRows() {
		t.Run(name, func(t *testing.T) {
			cluster := valid()
			c.change(&cluster.Spec)
			one(t, ValidateCreate(cluster), c)
		})
	}
}

func TestValidateUpdate(t *testing.T) {
	for name, c := range updateRows() {
		t.Run(name, func(t *testing.T) {
			updated := valid()
			c.change(&updated.Spec)
			one(t, ValidateUpdate(valid(), updated), c)
		})
	}
}

func TestValidClustersAreAccepted(t *testing.T) {
	for name, change := range map[string]func(*spec){
		"the ordinary one": func(*spec) {},
		"defaults": func(s *spec) {
			s.Replicas, s.Replication, s.Bootstrap, s.MySQL, s.DeletionPolicy = nil, mysqlv1.ReplicationSpec{}, nil, mysqlv1.MySQLSpec{}, ""
		},
		"one instance":                  func(s *spec) { s.Replicas, s.Replication.MinInSync = new(int32(1)), new(int32(1)) },
		"an image and no version":       func(s *spec) { s.Version, s.Image = "", "registry.example/db@sha256:00" },
		"an image of one's own numbers": func(s *spec) { s.Image = "registry.example/shop-db:1.2.3" },
		"the older series":              func(s *spec) { s.Version, s.Image = "8.4.6", "mysql:8.4" },
		"an image called latest":        func(s *spec) { s.Image = "mysql:latest" },
		"an image with a major only":    func(s *spec) { s.Image = "mysql:9" },
		"requests without limits": func(s *spec) {
			s.Resources = corev1.ResourceRequirements{Requests: corev1.ResourceList{"memory": resource.MustParse("64Mi")}}
		},
		"an empty initdb": func(s *spec) { s.Bootstrap.InitDB = &mysqlv1.InitDBSpec{} },
	} {
		t.Run(name, func(t *testing.T) {
			cluster := valid()
			change(&cluster.Spec)
			if errs := ValidateCreate(cluster); len(errs) > 0 {
				t.Errorf("ValidateCreate() = %v, want nothing", errs)
			}
		})
	}
}

func TestLivingClustersMayGrow(t *testing.T) {
	for name, change := range map[string]func(*spec){
		"more instances":              func(s *spec) { s.Replicas = new(int32(5)) },
		"larger volumes":              func(s *spec) { s.Storage.Size = resource.MustParse("11Gi") },
		"the same size, respelled":    func(s *spec) { s.Storage.Size = resource.MustParse("10240Mi") },
		"another patch":               func(s *spec) { s.Version = "9.7.5" },
		"an image that tells nothing": func(s *spec) { s.Version, s.Image = "", "registry.example/db@sha256:00" },
		"other settings":              func(s *spec) { s.MySQL.Config = nil },
	} {
		t.Run(name, func(t *testing.T) {
			updated := valid()
			change(&updated.Spec)
			if errs := ValidateUpdate(valid(), updated); len(errs) > 0 {
				t.Errorf("ValidateUpdate() = %v, want nothing", errs)
			}
		})
	}
}

// A cluster that a newer rule would refuse must still be able to lose its finalizer.
func TestAnUnchangedSpecIsNeverRefused(t *testing.T) {
	cluster := valid()
	cluster.Spec.Version = "8.0.44"
	if errs := ValidateUpdate(cluster, cluster.DeepCopy()); len(errs) > 0 {
		t.Errorf("ValidateUpdate() = %v, want nothing", errs)
	}
}

func TestNames(t *testing.T) {
	for name, c := range map[string]struct {
		name string
		want []string
	}{
		"a word":                   {"db", nil},
		"the longest":              {strings.Repeat("a", 40), nil},
		"too long":                 {strings.Repeat("a", 41), []string{messageNameLength}},
		"a digit in front":         {"1db", []string{messageName}},
		"a dash at the end":        {"db-", []string{messageName}},
		"a dot, no Service's name": {"db.x", []string{messageName}},
		"upper case":               {"DB", []string{messageName}},
		"nothing":                  {"", []string{messageName}},
		"too long, and wrong":      {strings.Repeat("A", 41), []string{messageNameLength, messageName}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := valid()
			cluster.Name = c.name
			var got []string
			for _, e := range ValidateCreate(cluster) {
				if e.Field != "metadata.name" {
					t.Errorf("error at %s, want metadata.name", e.Field)
				}
				got = append(got, e.Detail)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("ValidateCreate() mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSentencesAreThoseOfCEL: whoever meets a rule at the API server and in a condition must read one sentence.
func TestSentencesAreThoseOfCEL(t *testing.T) {
	source, err := os.ReadFile("../../api/v1/mysqlcluster_types.go")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{messageName: true, messageNameLength: true}
	for _, rows := range []map[string]row{createRows(), updateRows()} {
		for _, r := range rows {
			said[r.want] = true
		}
	}
	markers := regexp.MustCompile(`XValidation:rule="[^"]*",message="([^"]*)"`).FindAllStringSubmatch(string(source), -1)
	if len(markers) < 20 {
		t.Fatalf("found %d rules in api/v1: the way they are written changed", len(markers))
	}
	for _, m := range markers {
		if !said[m[1]] {
			t.Errorf("CEL says what no row here says: %s", m[1])
		}
	}
}
