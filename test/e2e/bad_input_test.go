// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// TestCoreMissingImageHeals: a wrong image shows as a condition with the kubelet's reason, and fixing the spec
// heals, although every pod is broken. Core lane.
func TestCoreMissingImageHeals(t *testing.T) {
	c := create(t, namespace(t), "missing_image")
	now := becomes(t, c, 2*time.Minute, state{mysqlv1.ConditionReady, metav1.ConditionFalse, mysqlv1.ReasonImagePullFailed})
	fixed := now.DeepCopy()
	fixed.Spec.Image = "docker.io/library/mysql:" + env.version
	must(t, env.Patch(t.Context(), fixed, client.MergeFrom(now)))
	ready(t, c, 3*time.Minute)
}

// TestCoreDeletionPolicyDelete: deleting the MySQLCluster removes all that it owned, volumes and Secrets included.
// Core lane.
func TestCoreDeletionPolicyDelete(t *testing.T) {
	ns := namespace(t)
	c := create(t, ns, "deletion_policy_delete")
	ready(t, c, 3*time.Minute)
	had, err := objects(t, ns)
	must(t, err)
	for _, kind := range []string{"StatefulSet", "Service", "Secret", "PersistentVolumeClaim", "NetworkPolicy", "Pod"} {
		if !strings.Contains(strings.Join(had, "\n"), "."+kind+" ") {
			t.Errorf("a running cluster has no %s among %s", kind, had)
		}
	}
	deleteCluster(t, c)
	nothingLeft(t, ns)
}

// objects lists what belongs to clusters in a namespace.
func objects(t *testing.T, ns string) ([]string, error) {
	t.Helper()
	var names []string
	lists := []client.ObjectList{
		&appsv1.StatefulSetList{}, &corev1.ConfigMapList{}, &corev1.PersistentVolumeClaimList{}, &corev1.PodList{}, &corev1.SecretList{},
		&corev1.ServiceAccountList{}, &corev1.ServiceList{}, &networkingv1.NetworkPolicyList{}, &policyv1.PodDisruptionBudgetList{},
	}
	for _, list := range lists {
		if err := env.List(t.Context(), list, client.InNamespace(ns), client.HasLabels{naming.LabelCluster}); err != nil {
			return nil, err
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			o, err := meta.Accessor(item)
			if err == nil {
				names = append(names, fmt.Sprintf("%T %s", item, o.GetName()))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// nothingLeft waits until nothing of any cluster is left in a namespace.
func nothingLeft(t *testing.T, ns string) {
	t.Helper()
	eventually(t, time.Minute, func() error {
		left, err := objects(t, ns)
		if err == nil && len(left) > 0 {
			err = errors.New("left behind: " + strings.Join(left, ", "))
		}
		return err
	})
}

// TestCoreBadInputIsRefused: what can be refused at admission is, with a sentence that says what to do. Core lane.
func TestCoreBadInputIsRefused(t *testing.T) {
	ns := namespace(t)
	for name, tc := range map[string]struct {
		path  string // below the object, parts separated by a dot
		value any
		want  string
	}{
		"MySQL 8.0":               {"spec.version", "8.0.40", "MySQL 8.0 is at its end of life"},
		"an unknown series":       {"spec.version", "5.7.44", "supported series"},
		"a key the operator owns": {"spec.mysql.config", map[string]any{"gtid_mode": "OFF"}, "the operator owns"},
		"no replicas":             {"spec.replicas", int64(0), "greater than or equal to 1"},
		"a long name":             {"metadata.name", strings.Repeat("n", 41), "at most 40 characters"},
		"no storage":              {"spec.storage.size", "0", "greater than zero"},
	} {
		t.Run(name, func(t *testing.T) {
			fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(manifest(t, ns, "three_instances"))
			must(t, err)
			c := &unstructured.Unstructured{Object: fields}
			c.SetGroupVersionKind(mysqlv1.GroupVersion.WithKind("MySQLCluster"))
			must(t, unstructured.SetNestedField(c.Object, tc.value, strings.Split(tc.path, ".")...))
			err = env.Create(t.Context(), c, client.DryRunAll)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("create = %v, want a refusal with %q", err, tc.want)
			}
		})
	}
}

// TestOtherSizes: one, two and five instances work too.
func TestOtherSizes(t *testing.T) {
	for _, name := range []string{"one_instance", "two_instances", "five_instances"} {
		t.Run(name, func(t *testing.T) {
			c := create(t, namespace(t), name)
			now := ready(t, c, 6*time.Minute)
			a := application(t, c)
			a.write(t, "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20)); INSERT INTO t VALUES (1, 'hello')")
			equalSets(t, now)
			if *c.Spec.Replicas > 1 {
				a.seesHello(t, "SELECT v FROM t")
			}
			want := fmt.Sprint(*c.Spec.Replicas - 1)
			if got := mustLocal(t, c.Namespace, now.Status.Primary, "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Rpl_semi_sync_source_clients'"); got != want {
				t.Errorf("%s replicas acknowledge, want %s", got, want)
			}
		})
	}
}
