// SPDX-License-Identifier: Apache-2.0

//go:build devcluster

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega" //nolint:revive // Assertions read as sentences.
)

// name keeps the test's cluster apart from the developer's own.
const name = "selftest"

// app is a MySQL server on each of two nodes, under the strictest Pod Security there is.
const app = `
apiVersion: v1
kind: Namespace
metadata: {name: test, labels: {pod-security.kubernetes.io/enforce: restricted}}
---
apiVersion: v1
kind: Service
metadata: {name: app, namespace: test}
spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {app: app}, ports: [{port: 3306}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: test}
spec: {selector: {app: app}, ports: [{port: 3306}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: app, namespace: test}
spec:
  replicas: 2
  serviceName: app
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 1
      securityContext: {runAsNonRoot: true, runAsUser: 12345, fsGroup: 12345, seccompProfile: {type: RuntimeDefault}}
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: app}}}
      containers:
      - name: app
        image: mysql:%[1]s
        command: [bash, -c]
        args:
        - |
          set -e
          options="--datadir=/data/mysql --socket=/tmp/s --mysqlx=0 --secure-file-priv=NULL --pid-file=/tmp/p --skip-name-resolve"
          [ -f /data/mysql/ready ] || { rm -rf /data/mysql; mysqld $options --initialize-insecure; touch /data/mysql/ready; }
          exec mysqld $options
        ports: [{containerPort: 3306}]
        readinessProbe: {tcpSocket: {port: 3306}, periodSeconds: 1}
        securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
        volumeMounts: [{name: data, mountPath: /data}, {name: tmp, mountPath: /tmp}]
      volumes: [{name: tmp, emptyDir: {}}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOncePod], storageClassName: keelson-loop, resources: {requests: {storage: 600Mi}}}
`

// policy says who may reach app-0.
const policy = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: app-0, namespace: test}
spec:
  podSelector: {matchLabels: {statefulset.kubernetes.io/pod-name: app-0}}
  policyTypes: [Ingress]
  ingress: %s
`

// cluster drives the command as a person would.
type cluster struct {
	program string
	env     []string
}

// build builds the command once.
func build(t *testing.T) *cluster {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("this test needs root; it is behind a build tag so that nobody runs it by accident")
	}
	program := filepath.Join(t.TempDir(), "devcluster")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../cmd/devcluster").CombinedOutput(); err != nil {
		t.Fatalf("build devcluster: %v: %s", err, out)
	}
	return &cluster{program: program, env: os.Environ()}
}

func (c *cluster) runWith(ctx context.Context, args ...string) (string, error) {
	return c.command(exec.CommandContext(ctx, c.program, append([]string{"--name", name}, args...)...), "")
}

func (c *cluster) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.runWith(t.Context(), args...)
	if err != nil {
		t.Fatalf("devcluster %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// command runs a program; its error says what it said.
func (c *cluster) command(cmd *exec.Cmd, input string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = strings.NewReader(input), &stdout, &stderr, c.env
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%w: %s", err, stderr.String())
	}
	return stdout.String(), nil
}

var exported = regexp.MustCompile(`KUBECONFIG=(\S+) PATH=(.*):\$PATH`)

// up starts the cluster and takes KUBECONFIG and PATH from what it prints, as a person's shell does.
func (c *cluster) up(t *testing.T, nodes int) {
	t.Helper()
	start := time.Now()
	line := exported.FindStringSubmatch(c.run(t, "up", "--nodes", strconv.Itoa(nodes)))
	if line == nil {
		t.Fatal("up prints no KUBECONFIG")
	}
	c.env = append(os.Environ(), "KUBECONFIG="+line[1], "PATH="+line[2]+":"+os.Getenv("PATH"))
	if err := os.Setenv("PATH", line[2]+":"+os.Getenv("PATH")); err != nil { //nolint:usetesting // For all parts, not for this one.
		t.Fatal(err)
	}
	t.Logf("up took %s", time.Since(start).Round(100*time.Millisecond))
}

func (c *cluster) tryKubectl(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return c.command(exec.CommandContext(t.Context(), "kubectl", args...), "")
}

func (c *cluster) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return c.kubectlIn(t, "", args...)
}

func (c *cluster) kubectlIn(t *testing.T, input string, args ...string) string {
	t.Helper()
	out, err := c.command(exec.CommandContext(t.Context(), "kubectl", args...), input)
	if err != nil {
		t.Fatalf("kubectl %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// mysql is the tag of the MySQL image that the cluster serves.
func (c *cluster) mysql(t *testing.T) string {
	t.Helper()
	return filepath.Base(filepath.Dir(strings.TrimSpace(c.run(t, "mysql-root"))))
}

// machines are the first processes of all machines.
func (c *cluster) machines(t *testing.T) string {
	t.Helper()
	_, table, _ := strings.Cut(c.run(t, "status"), "MACHINE")
	return regexp.MustCompile(`(?m)^(\S+\s+\d+).*$`).ReplaceAllString(table, "$1")
}

// filesystem is the size of app-0's file system.
func (c *cluster) filesystem(t *testing.T) int64 {
	t.Helper()
	size := regexp.MustCompile(`filesystem=(\d+)`).FindStringSubmatch(c.run(t, "volume", "grow-info", "test/data-app-0"))
	n, err := strconv.ParseInt(size[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// killedStart starts the cluster and kills the command as soon as the first machine exists.
func (c *cluster) killedStart(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.program, "--name", name, "up", "--nodes", "2")
	cmd.Env = c.env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	NewWithT(t).Eventually(func() bool {
		found, _ := filepath.Glob("/var/lib/keelson-devcluster/" + name + "/machines/*.pid")
		return len(found) > 0
	}, soon, 5*time.Millisecond).Should(BeTrue())
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("up was not killed")
	}
}

// dump shows why a part failed.
func (c *cluster) dump(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{{"get", "pods,pvc,nodes", "-A", "-o", "wide"}, {"get", "events", "-A", "--sort-by=.lastTimestamp"}} {
		out, err := c.tryKubectl(t, args...)
		t.Logf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// hostState is everything on the host that a cluster could leave behind.
type hostState struct {
	Links, Routes, Loops, Mounts, Cgroups, Namespaces, Processes, Settings, Rules []string
}

func observeHost(t *testing.T) hostState {
	t.Helper()
	return hostState{
		Links:      grep(shell(t, "ip -o link | cut -d: -f2"), "kdc"),
		Routes:     grep(shell(t, "ip route"), "kdc"),
		Loops:      grep(shell(t, "losetup -a"), name),
		Mounts:     grep(shell(t, "cat /proc/mounts"), name),
		Cgroups:    grep(shell(t, "find /sys/fs/cgroup -type d -name 'keelson-*'"), name),
		Namespaces: strings.Fields(shell(t, "ls /run/netns 2>/dev/null || true")),
		Processes:  grep(shell(t, "ps -eo args"), "keelson-devcluster/"+name),
		Settings:   strings.Split(shell(t, "sysctl vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops kernel.keys.root_maxkeys"), "\n"),
		Rules:      grep(shell(t, "iptables-save"), "KUBE-"),
	}
}

func (h hostState) compare(t *testing.T) {
	t.Helper()
	if diff := cmp.Diff(h, observeHost(t)); diff != "" {
		t.Errorf("host after down mismatch (-before +after):\n%s", diff)
	}
	if _, err := os.Stat("/var/lib/keelson-devcluster/" + name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder of the cluster is still there: %v", err)
	}
}

func shell(t *testing.T, line string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", line).Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return string(out)
}

func grep(text, part string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// dial connects and hears the server's word.
func dial(ctx context.Context, address string) error {
	d := net.Dialer{Timeout: 2 * time.Second}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 1))
	return err
}
