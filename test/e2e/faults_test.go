// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// TestKilledClone: an instance killed half-way through its clone is never Ready, never has a datadir, and is cloned
// again (I3).
func TestKilledClone(t *testing.T) {
	c := create(t, namespace(t), "three_instances")
	now := ready(t, c, 4*time.Minute)
	name := aReplica(now)
	deleteInstance(t, now, name)
	eventually(t, 2*time.Minute, func() error {
		state, err := stateOf(t, c, name)
		if err == nil && state != "Cloning" {
			err = fmt.Errorf("%s is %s, not Cloning", name, state)
		}
		return err
	})
	now, err := read(t.Context(), c)
	must(t, err)
	for _, i := range now.Status.Instances {
		if i.Name == name && i.Ready {
			t.Errorf("%s is Ready while it is cloned", name)
		}
	}
	// Killing PID 1 of the container kills the manager and its mysqld.
	must(t, env.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name}},
		client.GracePeriodSeconds(0)))
	now = ready(t, c, 4*time.Minute)
	mustLocal(t, c.Namespace, now.Status.Primary, "CREATE DATABASE afterwards")
	equalSets(t, now)
}

func stateOf(t *testing.T, c *mysqlv1.MySQLCluster, instance string) (string, error) {
	now, err := read(t.Context(), c)
	if err != nil {
		return "", err
	}
	for _, i := range now.Status.Instances {
		if i.Name == instance {
			return i.State, nil
		}
	}
	return "", errors.New(instance + " is not in the status")
}

// TestOperatorKilledDuringBootstrap: the operator is killed again and again while a cluster comes up; the end is the
// same.
func TestOperatorKilledDuringBootstrap(t *testing.T) {
	c := create(t, namespace(t), "three_instances")
	for _, reached := range []func(*mysqlv1.MySQLCluster) bool{
		func(c *mysqlv1.MySQLCluster) bool { return c.Status.HA != nil && c.Status.HA.Bootstrapping != "" },
		func(c *mysqlv1.MySQLCluster) bool { return c.Status.HA != nil && c.Status.HA.Bootstrapped },
		func(c *mysqlv1.MySQLCluster) bool { return c.Status.HA != nil && c.Status.HA.Opened },
	} {
		eventually(t, 3*time.Minute, func() error {
			now, err := read(t.Context(), c)
			if err == nil && !reached(now) {
				err = fmt.Errorf("not reached: %+v", now.Status.HA)
			}
			return err
		})
		killOperator(t)
	}
	now := ready(t, c, 5*time.Minute)
	if now.Status.HA.Epoch != 1 {
		t.Errorf("epoch = %d: the data was made twice", now.Status.HA.Epoch)
	}
	mustLocal(t, c.Namespace, now.Status.Primary, "CREATE DATABASE afterwards")
	equalSets(t, now)
}

// TestDeletedWhileComingUp: a MySQLCluster that is deleted before it has data, and while an instance is cloned, goes
// away with all that it has made by then.
func TestDeletedWhileComingUp(t *testing.T) {
	for name, reached := range map[string]func(*mysqlv1.MySQLCluster) bool{
		"while the first instance makes its data": func(c *mysqlv1.MySQLCluster) bool {
			return c.Status.HA != nil && c.Status.HA.Bootstrapping != ""
		},
		"while another instance is cloned": func(c *mysqlv1.MySQLCluster) bool {
			return slices.ContainsFunc(c.Status.Instances, func(i mysqlv1.InstanceStatus) bool { return i.State == "Cloning" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t)
			c := manifest(t, ns, "three_instances")
			c.Spec.DeletionPolicy = mysqlv1.DeletionDelete
			must(t, env.Create(t.Context(), c))
			eventually(t, 3*time.Minute, func() error {
				now, err := read(t.Context(), c)
				if err == nil && !reached(now) {
					err = fmt.Errorf("not reached: %+v", now.Status)
				}
				return err
			})
			deleteCluster(t, c)
			nothingLeft(t, ns)
		})
	}
}

// killOperator deletes the operator's pods without any grace.
func killOperator(t *testing.T) {
	t.Helper()
	d, err := operator(t.Context())
	must(t, err)
	must(t, env.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(d.Namespace),
		client.MatchingLabels(d.Spec.Selector.MatchLabels), client.GracePeriodSeconds(0)))
}

// TestTwoInstancesLoseOne: of two instances the replica loses its volume while a write waits for it; the cluster
// heals by itself (ADR 0011).
func TestTwoInstancesLoseOne(t *testing.T) {
	c := create(t, namespace(t), "two_instances")
	now := ready(t, c, 4*time.Minute)
	a := application(t, c)
	a.write(t, "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20)); INSERT INTO t VALUES (1, 'hello')")
	name := aReplica(now)
	old := incarnation(now, name)
	deleteInstance(t, now, name)
	waiting := make(chan error, 1)
	go func() {
		_, err := a.sql(t.Context(), naming.ServiceRW(c.Name), "INSERT INTO t VALUES (2, 'waits')")
		waiting <- err
	}()
	eventually(t, 5*time.Minute, func() error {
		now = ready(t, c, 5*time.Minute)
		if incarnation(now, name) == old {
			return errors.New("the old incarnation is still in the set")
		}
		return nil
	})
	if got := a.write(t, "SELECT v FROM t WHERE id = 1"); got != "hello" {
		t.Errorf("the acknowledged row is %q", got)
	}
	select {
	case err := <-waiting:
		// Closing the primary ends the session, unless the write came through before or after; then it must be there.
		if got := a.write(t, "SELECT COUNT(*) FROM t WHERE id = 2"); err == nil && got != "1" {
			t.Errorf("the write that waited was acknowledged, and %s rows are there", got)
		}
	case <-time.After(time.Minute):
		t.Error("the write still waits although the cluster is Ready")
	}
	equalSets(t, now)
}

// TestKeptVolumesAllThere: the same name over all of its kept volumes has the data, and its Secrets, lost or not, fit.
func TestKeptVolumesAllThere(t *testing.T) {
	c := create(t, namespace(t), "three_instances")
	ready(t, c, 4*time.Minute)
	a := application(t, c)
	a.write(t, "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20)); INSERT INTO t VALUES (1, 'hello')")
	deleteCluster(t, c)
	for _, secret := range []string{naming.SecretInternal(c.Name), naming.SecretApp(c.Name)} {
		must(t, env.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: secret}}))
	}
	must(t, env.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: a.ns, Name: a.pod}}))
	again := create(t, c.Namespace, "three_instances")
	ready(t, again, 4*time.Minute)
	eventually(t, time.Minute, func() error {
		if err := env.Get(t.Context(), client.ObjectKey{Namespace: a.ns, Name: a.pod}, &corev1.Pod{}); !apierrors.IsNotFound(err) {
			return errors.Join(errors.New("the application's old pod is still there"), err)
		}
		return nil
	})
	a = application(t, again)
	if got := a.write(t, "SELECT v FROM t WHERE id = 1"); got != "hello" {
		t.Errorf("the row is %q", got)
	}
}

// TestScaleAndStorageGrow: replicas 1 to 3 by clone, and a larger volume while mounted.
func TestScaleAndStorageGrow(t *testing.T) {
	c := create(t, namespace(t), "one_instance")
	now := ready(t, c, 3*time.Minute)
	a := application(t, c)
	a.write(t, "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20)); INSERT INTO t VALUES (1, 'hello')")
	grown := now.DeepCopy()
	three := int32(3)
	grown.Spec.Replicas = &three
	grown.Spec.Storage.Size = *resourceQuantity(t, "2Gi")
	must(t, env.Patch(t.Context(), grown, client.MergeFrom(now)))
	now = ready(t, c, 5*time.Minute)
	a.seesHello(t, "SELECT v FROM t WHERE id = 1")
	equalSets(t, now)
	eventually(t, 3*time.Minute, func() error {
		list := &corev1.PersistentVolumeClaimList{}
		if err := env.List(t.Context(), list, client.InNamespace(c.Namespace)); err != nil {
			return err
		}
		for _, p := range list.Items {
			if got := p.Status.Capacity[corev1.ResourceStorage]; got.Cmp(*resourceQuantity(t, "2Gi")) < 0 {
				return fmt.Errorf("%s has %s", p.Name, got.String())
			}
		}
		return nil
	})
}

// TestPendingRestart: a changed setting is recorded and applied to nothing that runs.
func TestPendingRestart(t *testing.T) {
	c := create(t, namespace(t), "one_instance")
	now := ready(t, c, 3*time.Minute)
	before, err := restarts(t.Context(), now)
	must(t, err)
	changed := now.DeepCopy()
	changed.Spec.MySQL.Config = map[string]string{"max_connections": "77"}
	must(t, env.Patch(t.Context(), changed, client.MergeFrom(now)))
	now = becomes(t, c, time.Minute, state{mysqlv1.ConditionUpToDate, metav1.ConditionFalse, mysqlv1.ReasonRestartPending})
	must(t, is(now, mysqlv1.ConditionReady, metav1.ConditionTrue, ""))
	after, err := restarts(t.Context(), now)
	must(t, err)
	if before != after {
		t.Errorf("the change restarted\n%s\nto\n%s", before, after)
	}
	pod := naming.Instance(c.Name, 0)
	must(t, env.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: pod}}))
	becomes(t, c, 2*time.Minute, state{mysqlv1.ConditionUpToDate, metav1.ConditionTrue, ""})
	now = ready(t, c, 2*time.Minute)
	if got := strings.TrimSpace(mustLocal(t, c.Namespace, now.Status.Primary, "SELECT @@max_connections")); got != "77" {
		t.Errorf("max_connections = %s", got)
	}
}
