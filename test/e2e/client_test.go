// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// app is an application: a pod that knows the cluster only by its Secret <c>-app and its Services.
type app struct{ ns, pod, cluster string }

// application starts the pod of an application.
func application(t *testing.T, c *mysqlv1.MySQLCluster) app {
	t.Helper()
	no, yes, uid := false, true, int64(1234)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name + "-application"},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken:  &no,
			TerminationGracePeriodSeconds: new(int64),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: &yes, RunAsUser: &uid, RunAsGroup: &uid, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "client", Image: "docker.io/library/mysql:" + env.version, Command: []string{"sleep", "3600"},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
				VolumeMounts: []corev1.VolumeMount{{Name: "app", MountPath: "/app"}},
			}},
			Volumes: []corev1.Volume{{Name: "app", VolumeSource: corev1.VolumeSource{
				Secret: &corev1.SecretVolumeSource{SecretName: naming.SecretApp(c.Name)},
			}}},
		},
	}
	must(t, env.Create(t.Context(), pod))
	a := app{c.Namespace, pod.Name, c.Name}
	eventually(t, 2*time.Minute, func() error {
		now := &corev1.Pod{}
		if err := env.Get(t.Context(), client.ObjectKeyFromObject(pod), now); err != nil {
			return err
		}
		if now.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("the application's pod is %s", now.Status.Phase)
		}
		return nil
	})
	return a
}

// sql runs statements through a Service with what the Secret says, and with the server's certificate verified.
func (a app) sql(ctx context.Context, service, statements string) (string, error) {
	return a.mysql(ctx, service, "--ssl-mode=VERIFY_IDENTITY", statements)
}

func (a app) mysql(ctx context.Context, service, ssl, statements string) (string, error) {
	script := "MYSQL_PWD=$(cat /app/password) exec mysql --no-defaults --connect-timeout=5 " + ssl + " --ssl-ca=/app/ca.crt " +
		"-h " + naming.ServiceHost(a.ns, service) + " -P $(cat /app/port) -u $(cat /app/username) -N -B -e \"$0\" $(cat /app/database)"
	if strings.Contains(ssl, "DISABLED") {
		script = strings.Replace(script, "--ssl-ca=/app/ca.crt", "--get-server-public-key", 1)
	}
	return execute(ctx, a.ns, a.pod, "client", "sh", "-c", script, statements)
}

// write runs statements on the primary. It connects again while there is no connection to be had (error 2003, so nothing
// was executed): kube-proxy takes a moment to follow a pod that became Ready.
func (a app) write(t *testing.T, statements string) string {
	t.Helper()
	var out string
	var failed error
	eventually(t, time.Minute, func() error {
		out, failed = a.sql(t.Context(), naming.ServiceRW(a.cluster), statements)
		if failed != nil && strings.Contains(failed.Error(), "ERROR 2003") {
			return failed
		}
		return nil
	})
	must(t, failed)
	return out
}

// ledger is one session that commits one row after the other until the file $0 is there, from number $1 on. It ends
// with "rows microseconds": how many were acknowledged, and the longest that one of them took. A session that is lost
// is not made again: it ends the script with an error.
const ledger = `export LC_ALL=C MYSQL_PWD=$(cat /app/password)
	coproc SQL { exec mysql --no-defaults --skip-reconnect --unbuffered --connect-timeout=5 --ssl-mode=VERIFY_IDENTITY --ssl-ca=/app/ca.crt \
		-h "$2" -P "$(cat /app/port)" -u "$(cat /app/username)" -N -B "$(cat /app/database)"; }
	rows=0 longest=0
	while [ ! -e "$0" ]; do
		n=$(($1 + rows)) begin=${EPOCHREALTIME/./}
		echo "INSERT INTO t VALUES ($n, 'ledger'); SELECT $n;" >&"${SQL[1]}"
		read -r got <&"${SQL[0]}" && [ "$got" = "$n" ] || { echo "row $n was not acknowledged: '$got'" >&2; exit 1; }
		took=$((${EPOCHREALTIME/./} - begin)) rows=$((rows + 1))
		[ "$took" -le "$longest" ] || longest=$took
		sleep 0.01
	done
	echo "$rows $longest"`

// writesGoOn commits rows through one session while something happens, and returns the longest time that one took.
func (a app) writesGoOn(t *testing.T, from int, during func()) time.Duration {
	t.Helper()
	type result struct {
		out string
		err error
	}
	stop, done := fmt.Sprintf("/tmp/stop-%d", from), make(chan result, 1)
	go func() {
		out, err := execute(t.Context(), a.ns, a.pod, "client", "bash", "-c", ledger, stop, fmt.Sprint(from),
			naming.ServiceHost(a.ns, naming.ServiceRW(a.cluster)))
		done <- result{out, err}
	}()
	during()
	_, err := execute(t.Context(), a.ns, a.pod, "client", "touch", stop)
	must(t, err)
	r := <-done
	must(t, r.err)
	var rows int
	var longest int64
	if _, err := fmt.Sscan(r.out, &rows, &longest); err != nil || rows == 0 {
		t.Fatalf("the writer ended with %q (%v)", r.out, err)
	}
	if got := a.write(t, fmt.Sprintf("SELECT COUNT(*) FROM t WHERE id >= %d AND id < %d", from, from+rows)); got != fmt.Sprint(rows) {
		t.Errorf("%d writes were acknowledged, %s are there", rows, got)
	}
	return time.Duration(longest) * time.Microsecond
}

// seesHello waits until a query through -ro finds the row: replicas apply a moment after they have acknowledged.
func (a app) seesHello(t *testing.T, query string) {
	const want = "hello"
	t.Helper()
	eventually(t, time.Minute, func() error {
		got, err := a.sql(t.Context(), naming.ServiceRO(a.cluster), query)
		if err == nil && got != want {
			err = fmt.Errorf("%s through -ro = %q, want %q", query, got, want)
		}
		return err
	})
}
