// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/gtid"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// TestCoreThreeInstances is the README's first promise: one manifest gives a replicating cluster on which every
// commit is acknowledged by both replicas, reached by the application through TLS only. Core lane.
func TestCoreThreeInstances(t *testing.T) {
	c := create(t, namespace(t), "three_instances")
	now := ready(t, c, 4*time.Minute)
	a := application(t, c)

	t.Run("instances are on separate nodes while there are enough", func(t *testing.T) { separateNodes(t, now) })
	t.Run("a row written through -rw is read through -ro", func(t *testing.T) {
		a.write(t, "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20)); INSERT INTO t VALUES (1, 'hello')")
		a.seesHello(t, "SELECT v FROM t WHERE id = 1")
	})
	t.Run("every commit is acknowledged by both replicas", func(t *testing.T) { acknowledgedByBoth(t, now, a) })
	t.Run("all GTID sets are equal after the writes", func(t *testing.T) { equalSets(t, now) })
	t.Run("no network account may connect without TLS", func(t *testing.T) { tlsIsRequired(t, now, a) })
	t.Run("others reach MySQL and not the managers", func(t *testing.T) { networkPolicyHolds(t, now, a) })
	t.Run("replicas accept no writes", func(t *testing.T) {
		if _, err := a.sql(t.Context(), naming.ServiceRO(c.Name), "INSERT INTO t VALUES (99, 'no')"); err == nil {
			t.Error("a replica accepted a write")
		}
	})
	t.Run("a reconcile of a steady cluster writes nothing, and an operator restart restarts nothing", func(t *testing.T) {
		operatorRestartIsHarmless(t, now)
	})
	t.Run("a killed mysqld of a replica is back by itself", func(t *testing.T) { replicaKilled(t, now, a) })
	t.Run("a killed mysqld of the primary is back as primary", func(t *testing.T) { primaryKilled(t, now, a) })
	t.Run("a replica that lost pod and volume is cloned again", func(t *testing.T) { replicaWiped(t, now, a) })
	t.Run("the same name over kept volumes has the data", func(t *testing.T) { recreatedOverKeptVolumes(t, now, a) })
}

func separateNodes(t *testing.T, c *mysqlv1.MySQLCluster) {
	nodes := &corev1.NodeList{}
	must(t, env.List(t.Context(), nodes))
	list, err := pods(t.Context(), c)
	must(t, err)
	used := map[string]string{}
	for name, p := range list {
		if other, taken := used[p.Spec.NodeName]; taken && len(nodes.Items) >= len(list) {
			t.Errorf("%s and %s both run on %s", name, other, p.Spec.NodeName)
		}
		used[p.Spec.NodeName] = name
	}
}

func acknowledgedByBoth(t *testing.T, c *mysqlv1.MySQLCluster, a app) {
	status := func() string {
		return mustLocal(t, c.Namespace, c.Status.Primary, `SELECT CONCAT_WS(' ', @@rpl_semi_sync_source_enabled,
			@@rpl_semi_sync_source_wait_for_replica_count, @@rpl_semi_sync_source_wait_point, @@rpl_semi_sync_source_timeout)`)
	}
	if got, want := status(), "1 2 AFTER_SYNC 18446744073709551615"; got != want {
		t.Errorf("semi-sync settings = %q, want %q", got, want)
	}
	count := func() string {
		return mustLocal(t, c.Namespace, c.Status.Primary, `SELECT GROUP_CONCAT(VARIABLE_VALUE ORDER BY VARIABLE_NAME) FROM performance_schema.global_status
			WHERE VARIABLE_NAME IN ('Rpl_semi_sync_source_no_tx', 'Rpl_semi_sync_source_status', 'Rpl_semi_sync_source_clients')`)
	}
	a.write(t, "INSERT INTO t SELECT 100 + n, 'x' FROM (WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 50) SELECT n FROM s) q")
	if got, want := count(), "2,0,ON"; got != want {
		t.Errorf("clients,not acknowledged,status = %q, want %q", got, want)
	}
}

// equalSets waits until every instance has executed what the primary has, and holds nothing else.
func equalSets(t *testing.T, c *mysqlv1.MySQLCluster) {
	t.Helper()
	eventually(t, time.Minute, func() error {
		var sets []gtid.Set
		for i := range int(*c.Spec.Replicas) {
			text, err := local(t.Context(), c.Namespace, naming.Instance(c.Name, i), "SELECT @@global.gtid_executed")
			if err != nil {
				return err
			}
			set, err := gtid.Parse(strings.ReplaceAll(text, `\n`, ""))
			if err != nil {
				return err
			}
			sets = append(sets, set)
		}
		for i, s := range sets {
			if !s.Equal(sets[0]) || s.IsEmpty() {
				return fmt.Errorf("instance %d has executed %q, instance 0 %q", i, s, sets[0])
			}
		}
		return nil
	})
}

func tlsIsRequired(t *testing.T, c *mysqlv1.MySQLCluster, a app) {
	_, err := a.mysql(t.Context(), naming.ServiceRW(c.Name), "--ssl-mode=DISABLED", "SELECT 1")
	if err == nil {
		t.Error("a connection without TLS was accepted")
	}
	if out := mustLocal(t, c.Namespace, c.Status.Primary, "SELECT @@require_secure_transport"); out != "1" {
		t.Errorf("require_secure_transport = %s", out)
	}
	out := mustLocal(t, c.Namespace, c.Status.Primary, `SELECT COUNT(*) FROM mysql.user WHERE host NOT IN ('localhost') AND ssl_type = ''`)
	if out != "0" {
		t.Errorf("%s network accounts do not require TLS", out)
	}
}

// networkPolicyHolds tries the ports of the primary from a pod that is no part of the cluster, and from one that is.
// The Kubernetes under test must enforce NetworkPolicies.
func networkPolicyHolds(t *testing.T, c *mysqlv1.MySQLCluster, a app) {
	list, err := pods(t.Context(), c)
	must(t, err)
	primary, replica := list[c.Status.Primary], aReplica(c)
	connect := func(pod, container string, port int) error {
		_, err := execute(t.Context(), c.Namespace, pod, container, "timeout", "3", "bash", "-c", "exec 3<>\"/dev/tcp/$0/$1\"",
			primary.Status.PodIP, fmt.Sprint(port))
		return err
	}
	if err := connect(a.pod, "client", naming.PortMySQL); err != nil {
		t.Errorf("an application does not reach MySQL: %v", err)
	}
	if err := connect(replica, naming.ContainerMySQL, naming.PortManager); err != nil {
		t.Errorf("an instance does not reach another's manager: %v", err)
	}
	if err := connect(a.pod, "client", naming.PortManager); err == nil {
		t.Error("an application reaches a manager")
	}
}

// restarts is what must not change when the operator restarts: pods, containers and mysqld processes.
func restarts(ctx context.Context, c *mysqlv1.MySQLCluster) (string, error) {
	list, err := pods(ctx, c)
	if err != nil {
		return "", err
	}
	var out []string
	for name, p := range list {
		server, err := local(ctx, c.Namespace, name, "SELECT @@server_uuid, @@global.offline_mode")
		if err != nil {
			return "", err
		}
		pid, err := execute(ctx, c.Namespace, name, naming.ContainerMySQL, "sh", "-c", "for p in /proc/[0-9]*; do [ \"$(cat $p/comm 2>/dev/null)\" = mysqld ] && echo ${p#/proc/}; done; true")
		if err != nil {
			return "", err
		}
		out = append(out, fmt.Sprintf("%s %s %v %s %s", name, p.UID, p.Status.ContainerStatuses[0].RestartCount, pid, server))
	}
	slices.Sort(out)
	return strings.Join(out, "\n"), nil
}

func operatorRestartIsHarmless(t *testing.T, c *mysqlv1.MySQLCluster) {
	before, err := restarts(t.Context(), c)
	must(t, err)
	version := func() string {
		now, err := read(t.Context(), c)
		must(t, err)
		return now.ResourceVersion
	}
	steady := version()
	old := leader(t)
	restartOperator(t)
	eventually(t, time.Minute, func() error {
		if now := leader(t); now == "" || now == old {
			return fmt.Errorf("the leader is %q, before the restart it was %q", now, old)
		}
		return nil
	})
	// Once the new leader has made good a loss, its first look at the cluster is over or under way; once it has made
	// good another one, it is over.
	for range 2 {
		pdbComesBack(t, c)
	}
	after, err := restarts(t.Context(), c)
	must(t, err)
	if before != after {
		t.Errorf("the operator's restart changed\n%s\nto\n%s", before, after)
	}
	if now := version(); now != steady {
		t.Errorf("the operator's restart wrote to the MySQLCluster: resourceVersion %s became %s", steady, now)
	}
}

// leader is who holds the operator's Lease; empty while nobody does.
func leader(t *testing.T) string {
	t.Helper()
	lease := &coordinationv1.Lease{}
	must(t, env.Get(t.Context(), client.ObjectKey{Namespace: naming.OperatorNamespace, Name: "mysql-operator.keelson.dev"}, lease))
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// pdbComesBack deletes the PodDisruptionBudget of a cluster, of which nothing else depends, and waits for another.
func pdbComesBack(t *testing.T, c *mysqlv1.MySQLCluster) {
	t.Helper()
	key := client.ObjectKey{Namespace: c.Namespace, Name: naming.PDB(c.Name)}
	pdb := &policyv1.PodDisruptionBudget{}
	must(t, env.Get(t.Context(), key, pdb))
	old := pdb.UID
	must(t, env.Delete(t.Context(), pdb))
	eventually(t, time.Minute, func() error {
		now := &policyv1.PodDisruptionBudget{}
		err := env.Get(t.Context(), key, now)
		if err == nil && now.UID == old {
			err = errors.New("the old PodDisruptionBudget is still there")
		}
		return err
	})
}

// restartOperator deletes the operator's pods and waits until new ones are Ready.
func restartOperator(t *testing.T) {
	t.Helper()
	d, err := operator(t.Context())
	must(t, err)
	old := &corev1.PodList{}
	selector := client.MatchingLabels(d.Spec.Selector.MatchLabels)
	must(t, env.List(t.Context(), old, client.InNamespace(d.Namespace), selector))
	for _, p := range old.Items {
		must(t, client.IgnoreNotFound(env.Delete(t.Context(), &p)))
	}
	eventually(t, 2*time.Minute, func() error {
		list := &corev1.PodList{}
		if err := env.List(t.Context(), list, client.InNamespace(d.Namespace), selector); err != nil {
			return err
		}
		n := 0
		for _, p := range list.Items {
			again := slices.ContainsFunc(old.Items, func(o corev1.Pod) bool { return o.UID == p.UID })
			ready := slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
			})
			if !again && ready {
				n++
			}
		}
		if n < int(*d.Spec.Replicas) {
			return fmt.Errorf("%d of %d operator pods are Ready", n, *d.Spec.Replicas)
		}
		return nil
	})
}

// killMysqld kills the mysqld of an instance, not its manager.
func killMysqld(t *testing.T, ns, pod string) {
	t.Helper()
	_, err := execute(t.Context(), ns, pod, naming.ContainerMySQL, "sh", "-c",
		"for p in /proc/[0-9]*; do [ \"$(cat $p/comm 2>/dev/null)\" = mysqld ] && kill -9 ${p#/proc/}; done; true")
	must(t, err)
}

// aReplica returns the highest-numbered instance that is not the primary.
func aReplica(c *mysqlv1.MySQLCluster) string {
	for i := int(*c.Spec.Replicas) - 1; i >= 0; i-- {
		if name := naming.Instance(c.Name, i); name != c.Status.Primary {
			return name
		}
	}
	return ""
}

func replicaKilled(t *testing.T, c *mysqlv1.MySQLCluster, a app) {
	longest := a.writesGoOn(t, 1_000_000, func() {
		killMysqld(t, c.Namespace, aReplica(c))
		notEverybody(t, c)
		ready(t, c, 2*time.Minute)
	})
	t.Logf("the longest commit took %s", longest)
	equalSets(t, c)
}

// notEverybody waits until the cluster has noticed a loss: the set has changed, or been changed back already.
func notEverybody(t *testing.T, c *mysqlv1.MySQLCluster) {
	t.Helper()
	eventually(t, time.Minute, func() error {
		now, err := read(t.Context(), c)
		if err == nil && now.Status.HA.Revision == c.Status.HA.Revision {
			err = errors.New("the loss was not noticed")
		}
		return err
	})
}

func primaryKilled(t *testing.T, c *mysqlv1.MySQLCluster, a app) {
	a.write(t, "INSERT INTO t VALUES (5000, 'before')")
	killMysqld(t, c.Namespace, c.Status.Primary)
	eventually(t, 2*time.Minute, func() error {
		_, err := a.sql(t.Context(), naming.ServiceRW(c.Name), "INSERT IGNORE INTO t VALUES (5001, 'after')")
		return err
	})
	now := ready(t, c, 2*time.Minute)
	if now.Status.Primary != c.Status.Primary {
		t.Errorf("primary = %s, want %s", now.Status.Primary, c.Status.Primary)
	}
	if got := a.write(t, "SELECT COUNT(*) FROM t WHERE id IN (5000, 5001)"); got != "2" {
		t.Errorf("%s of 2 rows are there", got)
	}
	equalSets(t, c)
}

func replicaWiped(t *testing.T, c *mysqlv1.MySQLCluster, a app) {
	before, err := read(t.Context(), c)
	must(t, err)
	name := aReplica(c)
	deleteInstance(t, c, name)
	var now *mysqlv1.MySQLCluster
	eventually(t, 3*time.Minute, func() (err error) {
		now = ready(t, c, 3*time.Minute)
		if incarnation(now, name) == incarnation(before, name) {
			return errors.New("the old incarnation is still in the set")
		}
		return nil
	})
	equalSets(t, now)
	a.seesHello(t, "SELECT v FROM t WHERE id = 1")
}

func incarnation(c *mysqlv1.MySQLCluster, name string) string {
	for _, m := range c.Status.HA.InSync {
		if m.Name == name {
			return m.Incarnation
		}
	}
	return ""
}

// deleteInstance deletes volume claim and pod of an instance.
func deleteInstance(t *testing.T, c *mysqlv1.MySQLCluster, name string) {
	t.Helper()
	pvc := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: naming.PVC(name)}}
	must(t, env.Get(t.Context(), client.ObjectKeyFromObject(pvc), pvc))
	old := pvc.UID
	must(t, env.Delete(t.Context(), pvc))
	must(t, client.IgnoreNotFound(env.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name}})))
	eventually(t, 2*time.Minute, func() error {
		err := env.Get(t.Context(), client.ObjectKeyFromObject(pvc), pvc)
		if apierrors.IsNotFound(err) || err == nil && pvc.UID != old {
			return nil
		}
		return errors.Join(errors.New("the old volume claim is still there"), err)
	})
}

// recreatedOverKeptVolumes deletes the MySQLCluster (deletionPolicy Retain), loses the volume of instance 0 as
// well, and creates the same name again.
func recreatedOverKeptVolumes(t *testing.T, c *mysqlv1.MySQLCluster, a app) {
	rows := a.write(t, "SELECT COUNT(*) FROM t")
	must(t, env.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: a.ns, Name: a.pod}}))
	deleteCluster(t, c)
	kept := &corev1.PersistentVolumeClaimList{}
	must(t, env.List(t.Context(), kept, client.InNamespace(c.Namespace)))
	if len(kept.Items) != int(*c.Spec.Replicas) {
		t.Fatalf("%d volume claims were kept, want %d", len(kept.Items), *c.Spec.Replicas)
	}
	pvc := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: naming.PVC(naming.Instance(c.Name, 0))}}
	must(t, env.Delete(t.Context(), pvc))
	eventually(t, time.Minute, func() error {
		if err := env.Get(t.Context(), client.ObjectKeyFromObject(pvc), pvc); apierrors.IsNotFound(err) {
			return nil
		}
		return errors.New("the volume claim is still there")
	})
	again := create(t, c.Namespace, "three_instances")
	now := ready(t, again, 4*time.Minute)
	if now.Status.HA.Epoch < 2 || now.Status.HA.ClusterUID != c.Status.HA.ClusterUID {
		t.Errorf("ha = %+v; want the cluster %s at a higher epoch", now.Status.HA, c.Status.HA.ClusterUID)
	}
	// The new MySQLCluster has a new authority: an application must be started with the Secret as it is now.
	a = application(t, again)
	if got := a.write(t, "SELECT COUNT(*) FROM t"); got != rows {
		t.Errorf("%s rows, want %s", got, rows)
	}
	equalSets(t, now)
}

// deleteCluster deletes the MySQLCluster and waits until it and its pods are gone.
func deleteCluster(t *testing.T, c *mysqlv1.MySQLCluster) {
	t.Helper()
	must(t, env.Delete(t.Context(), c))
	eventually(t, 2*time.Minute, func() error {
		if _, err := read(t.Context(), c); !apierrors.IsNotFound(err) {
			return errors.New("the MySQLCluster is still there")
		}
		left, err := pods(t.Context(), c)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("%d pods are still there", len(left))
		}
		return err
	})
}
