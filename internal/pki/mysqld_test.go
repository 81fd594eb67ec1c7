// SPDX-License-Identifier: Apache-2.0

package pki_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keelson-dev/mysql-operator/internal/mycnf"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/pki"
	"github.com/keelson-dev/mysql-operator/internal/testing/mysqld"
)

// files writes a pair and returns the options that name it to a mysql client.
func files(t *testing.T, dir, name string, p pki.Pair) (cert, key string) {
	t.Helper()
	cert, key = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	write(t, cert, p.CertPEM)
	write(t, key, p.KeyPEM)
	return cert, key
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func issue(t *testing.T, ca pki.CA, r pki.Request) pki.Pair {
	t.Helper()
	p, err := ca.Issue(r, now())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// now is the real time: mysqld has no other.
func now() time.Time { return time.Now() } //nolint:forbidigo // see above

func authority(t *testing.T) pki.CA {
	t.Helper()
	ca, err := pki.NewCA(now())
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

// TestMySQLSubjectIsWhatOpenSSLWrites: MySQL compares REQUIRE SUBJECT with OpenSSL's one-line text.
func TestMySQLSubjectIsWhatOpenSSLWrites(t *testing.T) {
	dir := t.TempDir()
	cert, key := files(t, dir, "db-1", issue(t, authority(t), pki.InstanceRequest("shop", "db", "db-1")))
	out, err := exec.CommandContext(t.Context(), "openssl", "x509", "-in", cert, "-noout", "-subject", "-nameopt", "compat").CombinedOutput()
	if err != nil {
		t.Fatalf("openssl (Debian package openssl) reads the certificate: %v: %s", err, out)
	}
	got := strings.TrimPrefix(strings.TrimSpace(string(out)), "subject=")
	if diff := cmp.Diff(pki.MySQLSubject("shop", "db-1"), got); diff != "" {
		t.Errorf("MySQLSubject() mismatch (-want openssl's +got):\n%s", diff)
	}
	if out, err := exec.CommandContext(t.Context(), "openssl", "pkey", "-in", key, "-noout", "-check").CombinedOutput(); err != nil {
		t.Errorf("openssl refuses the key: %v: %s", err, out)
	}
}

// TestMysqldTakesTheCertificates starts a real server with an instance's certificate and two authorities, and logs in as
// a replica would: by certificate and subject.
func TestMysqldTakesTheCertificates(t *testing.T) {
	dir, err := os.MkdirTemp("", "kmy") //nolint:usetesting // the path of a socket may have at most 107 characters
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	ca, next, stranger := authority(t), authority(t), authority(t)
	bundle := filepath.Join(dir, "ca.crt")
	write(t, bundle, slices.Concat(next.CertPEM(), ca.CertPEM()))
	cert, key := files(t, dir, "db-0", issue(t, ca, pki.InstanceRequest("shop", "db", "db-0")))
	init := filepath.Join(dir, "init.sql")
	write(t, init, fmt.Appendf(nil, "SET sql_log_bin=0;\nCREATE USER keelson_repl_1 IDENTIFIED BY 'pw' REQUIRE SUBJECT '%s';\n"+
		"GRANT REPLICATION SLAVE, CONNECTION_ADMIN ON *.* TO keelson_repl_1;\n", pki.MySQLSubject("shop", "db-1")))
	server := mycnf.Server{
		Paths: mycnf.Paths{
			Datadir: filepath.Join(dir, "data"), Socket: filepath.Join(dir, "s"), PIDFile: filepath.Join(dir, "pid"), Tmpdir: dir,
			InitFile: init, TLSCA: bundle, TLSCert: cert, TLSKey: key,
		},
		ServerID: 1, BindAddress: "127.0.0.1", Port: mysqld.FreePort(t), AdminPort: mysqld.FreePort(t),
	}
	mysqld.Initialize(t, mycnf.InitializeFlags(server.Paths)...)
	s := mysqld.Start(t, server.Paths.Socket, mycnf.SafetyFlags(server)...)

	login := func(t *testing.T, p pki.Pair, trusted string) (bool, string) {
		t.Helper()
		clientCert, clientKey := files(t, t.TempDir(), "client", p)
		out, err := s.Client(t, "SHOW SESSION STATUS LIKE 'Ssl_version'", "--host=127.0.0.1", "--port="+strconv.Itoa(server.Port),
			"--user=keelson_repl_1", "--password=pw", "--ssl-mode=VERIFY_CA", "--ssl-ca="+trusted, "--ssl-cert="+clientCert, "--ssl-key="+clientKey)
		return err == nil && strings.Contains(out, "TLSv1.3"), out
	}
	for name, c := range map[string]struct {
		from    pki.CA
		request pki.Request
		ok      bool
	}{
		"the instance itself":                     {ca, pki.InstanceRequest("shop", "db", "db-1"), true},
		"the instance, by the next authority":     {next, pki.InstanceRequest("shop", "db", "db-1"), true},
		"another instance of the cluster":         {ca, pki.InstanceRequest("shop", "db", "db-2"), false},
		"the instance of another namespace":       {ca, pki.InstanceRequest("bank", "db", "db-1"), false},
		"the instance, by an unknown authority":   {stranger, pki.InstanceRequest("shop", "db", "db-1"), false},
		"the operator, which is not the instance": {ca, pki.ClientRequest("shop", "db", naming.IdentityOperator), false},
	} {
		t.Run(name, func(t *testing.T) {
			if ok, out := login(t, issue(t, c.from, c.request), bundle); ok != c.ok {
				t.Errorf("login: %s, want success %v", out, c.ok)
			}
		})
	}

	// The next authority takes over while the server runs.
	onlyNext := filepath.Join(dir, "next.crt")
	write(t, onlyNext, next.CertPEM())
	replica := issue(t, next, pki.InstanceRequest("shop", "db", "db-1"))
	if ok, _ := login(t, replica, onlyNext); ok {
		t.Error("the server shows a certificate of the next authority before it has one")
	}
	files(t, dir, "db-0", issue(t, next, pki.InstanceRequest("shop", "db", "db-0")))
	s.Query(t, "ALTER INSTANCE RELOAD TLS; ALTER INSTANCE RELOAD TLS FOR CHANNEL mysql_admin")
	if ok, out := login(t, replica, onlyNext); !ok {
		t.Errorf("login after the reload: %s", out)
	}
}
