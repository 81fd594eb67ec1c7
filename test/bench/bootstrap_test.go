// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
)

// TestBootstrap prints how long it takes from apply to Ready for three instances of a MySQLCluster, next to three
// bare pods of the same image in a StatefulSet, which initialise a server each and do not replicate.
func TestBootstrap(t *testing.T) {
	c, version := connect(t)
	runs, err := strconv.Atoi(cmp.Or(os.Getenv("RUNS"), "5"))
	if err != nil {
		t.Fatal(err)
	}
	var bare, keelson []time.Duration
	for range runs { // alternating, so that a slow minute of the machine meets both
		bare = append(bare, measure(t, c, func(ns string) func() error { return bareStatefulSet(t, c, ns, version) }))
		keelson = append(keelson, measure(t, c, func(ns string) func() error { return cluster(t, c, ns, version) }))
	}
	fmt.Printf("\nApply to Ready, three instances, MySQL %s, %d runs, %d CPUs\n\n", version, runs, runtime.NumCPU())
	fmt.Println("| what | fastest | median | slowest |\n|---|---|---|---|")
	row("bare StatefulSet, not replicating", bare)
	row("MySQLCluster, replicating, in sync", keelson)
	fmt.Printf("\nmedian ratio: %.2f\n", median(keelson).Seconds()/median(bare).Seconds())
}

func row(what string, d []time.Duration) {
	round := func(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
	fmt.Printf("| %s | %s | %s | %s |\n", what, round(slices.Min(d)), round(median(d)), round(slices.Max(d)))
}

func median(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}

func connect(t *testing.T) (client.Client, string) {
	t.Helper()
	path, version := os.Getenv("E2E_KUBECONFIG"), os.Getenv("E2E_MYSQL_VERSION")
	if path == "" || version == "" {
		t.Fatal("set E2E_KUBECONFIG and E2E_MYSQL_VERSION, or run make bench-bootstrap")
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	scheme := kruntime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), mysqlv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c, version
}

// measure makes a namespace, applies, waits until it is ready, and takes all of it away again before it returns.
func measure(t *testing.T, c client.Client, apply func(ns string) (isReady func() error)) time.Duration {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-"}}
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	isReady := apply(ns.Name)
	wait(t, isReady)
	took := time.Since(begin)
	if err := errors.Join(c.DeleteAllOf(t.Context(), &mysqlv1.MySQLCluster{}, client.InNamespace(ns.Name)), c.Delete(t.Context(), ns)); err != nil {
		t.Fatal(err)
	}
	wait(t, func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(ns), ns); !apierrors.IsNotFound(err) {
			return errors.Join(errors.New("the namespace is still there"), err)
		}
		return nil
	})
	return took
}

func wait(t *testing.T, ask func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("after ten minutes: %v", err)
		case <-tick.C:
		}
	}
}

func resources() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("512Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("640Mi")},
	}
}

func cluster(t *testing.T, c client.Client, ns, version string) func() error {
	t.Helper()
	o := &mysqlv1.MySQLCluster{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "bench"}}
	o.Spec.Version, o.Spec.DeletionPolicy = version, mysqlv1.DeletionDelete
	o.Spec.Storage.Size = resource.MustParse("1Gi")
	o.Spec.Resources = resources()
	if err := c.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(o.Status.Conditions, string(mysqlv1.ConditionReady)) || len(o.Status.HA.InSync) != 3 {
			return errors.New("not Ready")
		}
		return nil
	}
}

func bareStatefulSet(t *testing.T, c client.Client, ns, version string) func() error {
	t.Helper()
	three, uid := int32(3), int64(999)
	labels := map[string]string{"app": "bare"}
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "bare"}}
	set.Spec = appsv1.StatefulSetSpec{
		Replicas: &three, PodManagementPolicy: appsv1.ParallelPodManagement, Selector: &metav1.LabelSelector{MatchLabels: labels},
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
			ObjectMeta: metav1.ObjectMeta{Name: "data"},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{RunAsUser: &uid, FSGroup: &uid},
			Containers: []corev1.Container{{
				Name: "mysql", Image: "docker.io/library/mysql:" + version, Resources: resources(),
				Command: []string{"sh", "-c", "[ -d /var/lib/mysql/data ] || mysqld --no-defaults --initialize-insecure --datadir=/var/lib/mysql/data && " +
					"exec mysqld --no-defaults --datadir=/var/lib/mysql/data --socket=/tmp/mysqld.sock --mysqlx=OFF"},
				ReadinessProbe: &corev1.Probe{
					PeriodSeconds: 1,
					ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{
						Command: []string{"mysql", "--no-defaults", "-uroot", "-S/tmp/mysqld.sock", "-e", "SELECT 1"},
					}},
				},
				VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/var/lib/mysql"}},
			}},
		}},
	}
	if err := c.Create(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	return func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(set), set); err != nil {
			return err
		}
		if set.Status.ReadyReplicas < three {
			return fmt.Errorf("%d are Ready", set.Status.ReadyReplicas)
		}
		return nil
	}
}
