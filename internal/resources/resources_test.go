// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

func testPlatform() Platform {
	return Platform{
		OperatorImage:     "ghcr.io/keelson-dev/mysql-operator:test",
		MySQLRepository:   "docker.io/library/mysql",
		OperatorNamespace: naming.OperatorNamespace,
	}
}

func minimal() *mysqlv1.MySQLCluster {
	return &mysqlv1.MySQLCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "shop", UID: "11111111-2222-3333-4444-555555555555"},
		Spec: mysqlv1.MySQLClusterSpec{
			Replicas: ptr.To[int32](3),
			Version:  "9.7.4",
			Storage:  mysqlv1.StorageSpec{Size: resource.MustParse("10Gi")},
		},
	}
}

func full() *mysqlv1.MySQLCluster {
	c := minimal()
	c.Spec.Image = "registry.example/mysql:9.7.4-own"
	c.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "pull"}}
	c.Spec.Storage.StorageClassName = new("fast")
	c.Spec.Resources = corev1.ResourceRequirements{
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")},
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("2Gi")},
	}
	c.Spec.MySQL.Config = map[string]string{"max_connections": "500", "a_first": "1"}
	c.Spec.Placement = mysqlv1.PlacementSpec{
		NodeSelector:         map[string]string{"disk": "ssd"},
		Tolerations:          []corev1.Toleration{{Key: "db", Operator: corev1.TolerationOpExists}},
		TopologySpread:       []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway}},
		RequireSeparateNodes: true,
	}
	c.Spec.PodTemplate = &mysqlv1.PodTemplateSpec{
		Labels:      map[string]string{"team": "shop"},
		Annotations: map[string]string{"note": "mine"},
		Spec: &runtime.RawExtension{Raw: []byte(`{
			"priorityClassName": "high",
			"containers": [
				{"name": "mysql", "env": [{"name": "TZ", "value": "UTC"}, {"name": "KEELSON_CLUSTER", "value": "other"}],
				 "command": ["sh"], "args": ["-c", "true"], "ports": [{"containerPort": 1, "protocol": "TCP"}]},
				{"name": "exporter", "image": "exporter:1"}],
			"volumes": [{"name": "run", "hostPath": {"path": "/"}}, {"name": "extra", "emptyDir": {}}]}`)},
	}
	return c
}

// clusters are the clusters whose objects are kept as golden files.
func clusters() map[string]Input {
	openshift := testPlatform()
	openshift.AssignsUsers = true
	openshift.OperatorNamespace = ""
	return map[string]Input{
		"minimal":   {Cluster: minimal(), Platform: testPlatform()},
		"full":      {Cluster: full(), Platform: testPlatform()},
		"openshift": {Cluster: minimal(), Platform: openshift},
	}
}

func TestObjectsOfACluster(t *testing.T) {
	for name, in := range clusters() {
		t.Run(name, func(t *testing.T) {
			config, err := ConfigMap(in)
			if err != nil {
				t.Fatal(err)
			}
			set, err := StatefulSet(in, in.Cluster.Spec.Storage.Size)
			if err != nil {
				t.Fatal(err)
			}
			objects := []any{config, set}
			for _, service := range Services(in) {
				objects = append(objects, service)
			}
			objects = append(objects, PodDisruptionBudget(in), ServiceAccount(in), NetworkPolicy(in), PodMonitor(in).Object)
			compareGolden(t, name, objects...)
		})
	}
}

func TestChangedSettingIsAChangedPodTemplate(t *testing.T) {
	hash := func(config map[string]string) string {
		c := minimal()
		c.Spec.MySQL.Config = config
		out, err := configHash(c)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if hash(map[string]string{"a": "1"}) == hash(map[string]string{"a": "2"}) {
		t.Error("two values of a setting have the same hash: the change would never show as pending")
	}
	if hash(map[string]string{"a": "1", "b": "2"}) != hash(map[string]string{"b": "2", "a": "1"}) {
		t.Error("the same settings have different hashes: every reconcile would ask for a restart")
	}
}

func TestPodTemplateCannotTakeWhatTheOperatorOwns(t *testing.T) {
	in := Input{Cluster: full(), Platform: testPlatform()}
	spec, err := podSpec(in)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	pod := corev1.PodSpec{}
	if err := json.Unmarshal(text, &pod); err != nil {
		t.Fatal(err)
	}
	mysql := pod.Containers[0]
	if diff := cmp.Diff([]string{"/opt/keelson/bin/manager", "instance"}, mysql.Command); diff != "" || mysql.Args != nil {
		t.Errorf("command of mysql was taken (-want +got):\n%s args %v", diff, mysql.Args)
	}
	if len(mysql.Ports) != 4 || mysql.Ports[0].ContainerPort != naming.PortMySQL {
		t.Errorf("ports of mysql were taken: %v", mysql.Ports)
	}
	if strings.Contains(string(text), "hostPath") {
		t.Errorf("a volume of the operator was replaced: %s", text)
	}
	env := map[string]string{}
	for _, e := range mysql.Env {
		env[e.Name] = e.Value
	}
	if env[naming.EnvCluster] != "db" || env["TZ"] != "UTC" {
		t.Errorf("environment is %v, want the operator's own kept and the user's added", env)
	}
	if len(pod.Containers) != 2 || pod.Containers[1].Name != "exporter" {
		t.Errorf("the user's container is missing: %v", pod.Containers)
	}
}

// With the replication key one taken instance could log in as any other, and acknowledge writes in its name.
func TestReplicationKeyIsNotInThePods(t *testing.T) {
	for _, volume := range volumes(minimal()) {
		if *volume.Name != naming.VolumeInternal {
			continue
		}
		var got []string
		for _, item := range volume.Secret.Items {
			got = append(got, *item.Key)
		}
		want := []string{naming.KeyManagerPassword, naming.KeyClonePassword, naming.KeyCatchupPassword}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("keys in the pod mismatch (-want +got):\n%s", diff)
		}
		return
	}
	t.Fatal("there is no volume " + naming.VolumeInternal)
}

func TestKeptSecretHasNoOwner(t *testing.T) {
	in := Input{Cluster: minimal(), Platform: testPlatform()}
	if kept := KeptSecret(in, "x", nil); len(kept.OwnerReferences) != 0 {
		t.Error("a kept Secret has an owner: garbage collection would delete it with the cluster")
	}
	if owned := OwnedSecret(in, "x", nil); len(owned.OwnerReferences) != 1 {
		t.Error("an owned Secret has no owner: it would be left behind")
	}
}

// TestOperatorsPodsHaveTheLabelThatPoliciesSelect: without it the operator could not reach a single instance.
func TestOperatorsPodsHaveTheLabelThatPoliciesSelect(t *testing.T) {
	text, err := os.ReadFile("../../config/manager/manager.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		deployment := &appsv1.Deployment{}
		if err := yaml.Unmarshal([]byte(document), deployment); err != nil {
			t.Fatal(err)
		}
		if deployment.Kind == "Deployment" {
			if got := deployment.Spec.Template.Labels[naming.LabelControlPlane]; got != naming.ControlPlane {
				t.Errorf("the operator's pods have label %q, want %q", got, naming.ControlPlane)
			}
			return
		}
	}
	t.Fatal("config/manager has no Deployment")
}

func TestAppDataSaysHowToConnect(t *testing.T) {
	in := Input{Cluster: minimal(), Platform: testPlatform()}
	got := map[string]string{}
	for k, v := range AppData(in, []byte("p@ss/word"), []byte("CA")) {
		got[k] = string(v)
	}
	want := map[string]string{
		"host": "db-rw.shop.svc", "port": "3306", "database": "app", "username": "app", "password": "p@ss/word",
		"uri": "mysql://app:p%40ss%2Fword@db-rw.shop.svc:3306/app?ssl-mode=REQUIRED", "ca.crt": "CA",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("AppData() mismatch (-want +got):\n%s", diff)
	}
}

func TestMinInSyncByDefault(t *testing.T) {
	for replicas, want := range map[int32]int32{1: 1, 2: 2, 3: 2, 5: 2} {
		c := minimal()
		c.Spec.Replicas = &replicas
		if got := MinInSync(c); got != want {
			t.Errorf("MinInSync with %d replicas is %d, want %d", replicas, got, want)
		}
	}
}
