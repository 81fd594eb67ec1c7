// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// env is the cluster under test, made once by TestMain.
var env struct {
	client.Client
	config  *rest.Config
	core    kubernetes.Interface
	version string
	// storageClass is one that enforces sizes and grows; empty is the default of the cluster under test.
	storageClass string
}

func TestMain(m *testing.M) {
	if err := connect(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func connect() error {
	path, version := os.Getenv("E2E_KUBECONFIG"), os.Getenv("E2E_MYSQL_VERSION")
	if path == "" || version == "" {
		return errors.New("set E2E_KUBECONFIG (a kubeconfig) and E2E_MYSQL_VERSION (for example 9.7.4), or run make e2e-core")
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS, config.Burst = 50, 100
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), mysqlv1.AddToScheme(scheme)); err != nil {
		return err
	}
	env.config, env.version, env.storageClass = config, version, os.Getenv("E2E_STORAGE_CLASS")
	if env.Client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	env.core, err = kubernetes.NewForConfig(config)
	return err
}

// namespace makes a namespace under Pod Security "restricted", deleted when the test ends. When the test has
// failed, what the cluster looked like is printed first.
func namespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "e2e-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	must(t, env.Create(t.Context(), ns))
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if t.Failed() {
			dump(ctx, t, ns.Name)
		}
		if err := deleteNamespace(ctx, ns); err != nil {
			t.Errorf("delete namespace: %v", err)
		}
	})
	return ns.Name
}

// deleteNamespace deletes the clusters first, so that their finalizers are shown to work, then the rest. While pods
// are left, Kubernetes looks at a namespace again only after half of their grace period.
func deleteNamespace(ctx context.Context, ns *corev1.Namespace) error {
	err := env.DeleteAllOf(ctx, &mysqlv1.MySQLCluster{}, client.InNamespace(ns.Name))
	if err == nil {
		err = env.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(ns.Name), client.GracePeriodSeconds(0))
	}
	if err == nil {
		err = poll(ctx, 2*time.Minute, func() error {
			left := &corev1.PodList{}
			if err := env.List(ctx, left, client.InNamespace(ns.Name)); err != nil || len(left.Items) > 0 {
				return errors.Join(fmt.Errorf("%d pods are left", len(left.Items)), err)
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	if err := env.Delete(ctx, ns); err != nil {
		return client.IgnoreNotFound(err)
	}
	return poll(ctx, 2*time.Minute, func() error {
		err := env.Get(ctx, client.ObjectKeyFromObject(ns), &corev1.Namespace{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.New("the namespace is still there")
	})
}

// poll asks until there is no error, at most for the time given; it returns the last error.
func poll(ctx context.Context, atMost time.Duration, ask func() error) error {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %s: %w", atMost, err)
		case <-tick.C:
		}
	}
}

func eventually(t *testing.T, atMost time.Duration, ask func() error) {
	t.Helper()
	must(t, poll(t.Context(), atMost, ask))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// manifest reads testdata/<name>.yaml as a MySQLCluster, in the version under test.
func manifest(t *testing.T, ns, name string) *mysqlv1.MySQLCluster {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".yaml")
	must(t, err)
	c := &mysqlv1.MySQLCluster{}
	must(t, yaml.UnmarshalStrict(bytes.ReplaceAll(text, []byte("${MYSQL_VERSION}"), []byte(env.version)), c))
	c.Namespace = ns
	return c
}

// create applies the manifest of that name.
func create(t *testing.T, ns, name string) *mysqlv1.MySQLCluster {
	t.Helper()
	c := manifest(t, ns, name)
	must(t, env.Create(t.Context(), c))
	return c
}

// read returns the cluster as it is now.
func read(ctx context.Context, c *mysqlv1.MySQLCluster) (*mysqlv1.MySQLCluster, error) {
	now := &mysqlv1.MySQLCluster{}
	return now, env.Get(ctx, client.ObjectKeyFromObject(c), now)
}

// is returns an error unless the condition has that status (and reason, when one is given).
func is(c *mysqlv1.MySQLCluster, condition mysqlv1.ConditionType, status metav1.ConditionStatus, reason mysqlv1.Reason) error {
	got := meta.FindStatusCondition(c.Status.Conditions, string(condition))
	if got == nil {
		return fmt.Errorf("condition %s is not set", condition)
	}
	if got.Status != status || reason != "" && got.Reason != string(reason) {
		return fmt.Errorf("condition %s is %s, %s: %s", condition, got.Status, got.Reason, got.Message)
	}
	return nil
}

// state is a condition that a test waits for; an empty reason is any.
type state struct {
	condition mysqlv1.ConditionType
	status    metav1.ConditionStatus
	reason    mysqlv1.Reason
}

// becomes waits for a condition of this generation.
func becomes(t *testing.T, c *mysqlv1.MySQLCluster, atMost time.Duration, want state) *mysqlv1.MySQLCluster {
	t.Helper()
	var now *mysqlv1.MySQLCluster
	eventually(t, atMost, func() (err error) {
		if now, err = read(t.Context(), c); err != nil {
			return err
		}
		if now.Status.ObservedGeneration != now.Generation {
			return errors.New("the spec has not been observed yet")
		}
		return is(now, want.condition, want.status, want.reason)
	})
	return now
}

// ready waits until the cluster is Ready, all of it in sync.
func ready(t *testing.T, c *mysqlv1.MySQLCluster, atMost time.Duration) *mysqlv1.MySQLCluster {
	t.Helper()
	var now *mysqlv1.MySQLCluster
	eventually(t, atMost, func() (err error) {
		if now, err = read(t.Context(), c); err != nil {
			return err
		}
		if err := is(now, mysqlv1.ConditionReady, metav1.ConditionTrue, ""); err != nil {
			return err
		}
		if want := int(*now.Spec.Replicas); now.Status.HA == nil || len(now.Status.HA.InSync) != want {
			return fmt.Errorf("not all of %d instances are in sync: %+v", want, now.Status.HA)
		}
		return nil
	})
	return now
}

// execute runs a command in a container and returns its standard output.
func execute(ctx context.Context, ns, pod, container string, command ...string) (string, error) {
	request := env.core.CoreV1().RESTClient().Post().Resource("pods").Namespace(ns).Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: container, Command: command, Stdout: true, Stderr: true}, clientgoscheme.ParameterCodec)
	executor, err := remotecommand.NewSPDYExecutor(env.config, "POST", request.URL())
	if err != nil {
		return "", err
	}
	var stdout, stderr bytes.Buffer
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &stdout, Stderr: &stderr})
	if err != nil {
		return stdout.String(), fmt.Errorf("%s in %s: %w: %s", command[0], pod, err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// local runs SQL on one instance through its socket, as the manager's own account.
func local(ctx context.Context, ns, pod, sql string) (string, error) {
	script := fmt.Sprintf("MYSQL_PWD=$(cat %s/%s) exec mysql --no-defaults -u%s -S %s/%s -N -B -e \"$0\"",
		naming.PathInternal, naming.KeyManagerPassword, naming.AccountManager, naming.PathRun, naming.FileSocket)
	return execute(ctx, ns, pod, naming.ContainerMySQL, "sh", "-c", script, sql)
}

// mustLocal is local that fails the test.
func mustLocal(t *testing.T, ns, pod, sql string) string {
	t.Helper()
	out, err := local(t.Context(), ns, pod, sql)
	must(t, err)
	return out
}

// pods returns the instance pods of a cluster by name.
func pods(ctx context.Context, c *mysqlv1.MySQLCluster) (map[string]corev1.Pod, error) {
	list := &corev1.PodList{}
	err := env.List(ctx, list, client.InNamespace(c.Namespace), client.MatchingLabels{naming.LabelCluster: c.Name})
	out := map[string]corev1.Pod{}
	for _, p := range list.Items {
		out[p.Name] = p
	}
	return out, err
}

// dump prints what there is to see, for the log of a failed test.
func dump(ctx context.Context, t *testing.T, ns string) {
	clusters := &mysqlv1.MySQLClusterList{}
	if err := env.List(ctx, clusters, client.InNamespace(ns)); err != nil {
		t.Log(err)
	}
	for _, c := range clusters.Items {
		c.ManagedFields = nil
		text, err := yaml.Marshal(c)
		t.Logf("%s %v", text, err)
	}
	list := &corev1.PodList{}
	if err := env.List(ctx, list, client.InNamespace(ns)); err != nil {
		t.Log(err)
	}
	for _, p := range list.Items {
		t.Logf("pod %s: %s %+v", p.Name, p.Status.Phase, p.Status.ContainerStatuses)
		lines := int64(40)
		log, err := env.core.CoreV1().Pods(ns).GetLogs(p.Name, &corev1.PodLogOptions{TailLines: &lines}).DoRaw(ctx)
		t.Logf("log of %s (%v):\n%s", p.Name, err, log)
	}
	dumpOperator(ctx, t)
}

func dumpOperator(ctx context.Context, t *testing.T) {
	list := &corev1.PodList{}
	if err := env.List(ctx, list, client.InNamespace(naming.OperatorNamespace)); err != nil {
		t.Log(err)
	}
	for _, p := range list.Items {
		lines := int64(60)
		log, err := env.core.CoreV1().Pods(p.Namespace).GetLogs(p.Name, &corev1.PodLogOptions{TailLines: &lines}).DoRaw(ctx)
		t.Logf("log of %s (%v):\n%s", p.Name, err, log)
	}
}

// operator returns the operator's Deployment.
func operator(ctx context.Context) (*appsv1.Deployment, error) {
	list := &appsv1.DeploymentList{}
	if err := env.List(ctx, list, client.InNamespace(naming.OperatorNamespace)); err != nil {
		return nil, err
	}
	if len(list.Items) != 1 {
		return nil, fmt.Errorf("%d Deployments in %s, want 1", len(list.Items), naming.OperatorNamespace)
	}
	return &list.Items[0], nil
}

func resourceQuantity(t *testing.T, text string) *resource.Quantity {
	t.Helper()
	q, err := resource.ParseQuantity(text)
	must(t, err)
	return &q
}
