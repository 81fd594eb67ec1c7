// SPDX-License-Identifier: Apache-2.0

package instancetest

import (
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/pki"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// certificate returns the owner's TLS with a client certificate of that identity.
func (w *world) certificate(id pki.Identity) *tls.Config {
	w.t.Helper()
	pair, err := w.ca.Issue(pki.Request{Identity: id}, time.Now())
	w.must(err)
	cert, err := tls.X509KeyPair(pair.CertPEM, pair.KeyPEM)
	w.must(err)
	config := w.owner().tls
	config.Certificates = []tls.Certificate{cert}
	return config
}

func instanceIdentity(name string) pki.Identity {
	return pki.Identity{Namespace: namespace, Cluster: cluster, Role: naming.IdentityInstance, Instance: name}
}

// numberOf returns the server's error number of a login, 0 for success.
func (w *world) numberOf(name string, l login) uint16 {
	w.t.Helper()
	err := w.open(name, l).PingContext(w.t.Context())
	var my *mysql.MySQLError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &my):
		return my.Number
	}
	w.t.Fatalf("log in as %s: %v", l.user, err)
	return 0
}

// networkAccountsNeedTLS: with the right password, and without what else is asked.
func networkAccountsNeedTLS(w *world) {
	const denied, needsTLS = 1045, 3159
	plain := w.owner().tls
	w.admin(w.ha.primary).exec("CREATE USER plain@'%' IDENTIFIED BY 'plain'")
	own := w.member("db-1").GetPassword()
	for name, c := range map[string]struct {
		login login
		want  uint16
	}{
		"the owner with TLS":                  {w.owner(), 0},
		"the owner without TLS":               {login{owner, w.secrets[naming.KeyAppPassword], nil}, denied},
		"a user's own account without TLS":    {login{"plain", "plain", nil}, needsTLS},
		"the clone account without a cert":    {login{naming.AccountClone, w.secrets[naming.KeyClonePassword], plain}, denied},
		"the catch-up account without a cert": {login{naming.AccountCatchup, w.secrets[naming.KeyCatchupPassword], plain}, denied},
		"a member's account without a cert":   {login{naming.AccountReplication(1), own, plain}, denied},
		"a member's with another's cert":      {login{naming.AccountReplication(1), own, w.certificate(instanceIdentity("db-2"))}, denied},
		"the manager's from the network":      {login{naming.AccountManager, w.secrets[naming.KeyManagerPassword], plain}, denied},
		"root":                                {login{"root", "", plain}, denied},
	} {
		if got := w.numberOf(w.ha.primary, c.login); got != c.want {
			w.t.Errorf("%s: error %d, want %d", name, got, c.want)
		}
	}
}

// callersAreChecked: each method is for the identities of the table only.
func callersAreChecked(w *world) {
	for name, c := range map[string]struct {
		identity pki.Identity
		call     func(wire.InstanceClient) error
		want     string
	}{
		"an instance may not order": {instanceIdentity("db-1"), func(c wire.InstanceClient) error {
			_, err := c.SetRole(w.t.Context(), w.primaryOrder())
			return err
		}, "PermissionDenied"},
		"an instance may ask": {instanceIdentity("db-1"), func(c wire.InstanceClient) error {
			_, err := c.Ask(w.t.Context(), &wire.AskRequest{})
			return err
		}, "OK"},
		"a metrics reader may not ask": {pki.Identity{Namespace: namespace, Cluster: cluster, Role: naming.IdentityMetrics}, func(c wire.InstanceClient) error {
			_, err := c.Ask(w.t.Context(), &wire.AskRequest{})
			return err
		}, "PermissionDenied"},
		"the operator may not borrow": {pki.Identity{Namespace: namespace, Cluster: cluster, Role: naming.IdentityOperator}, func(c wire.InstanceClient) error {
			stream, err := c.LendClone(w.t.Context(), &wire.LendCloneRequest{})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		}, "PermissionDenied"},
		"another cluster is not let in": {pki.Identity{Namespace: namespace, Cluster: "other", Role: naming.IdentityOperator}, func(c wire.InstanceClient) error {
			_, err := c.Ask(w.t.Context(), &wire.AskRequest{})
			return err
		}, "Unavailable"},
	} {
		w.wantCodeOf(name, c.call(w.dial(w.ha.primary, c.identity)), c.want)
	}
}

func (w *world) wantCodeOf(name string, err error, want string) {
	w.t.Helper()
	w.t.Run(name, func(t *testing.T) { (&world{t: t}).wantCode(err, want) })
}

func (w *world) dial(instance string, as pki.Identity) wire.InstanceClient {
	w.t.Helper()
	pair, err := w.ca.Issue(pki.Request{Identity: as}, time.Now())
	w.must(err)
	var store pki.Store
	w.must(store.Set(pair, w.ca.CertPEM()))
	conn, err := grpc.NewClient("passthrough:///"+local(w.instances[instance].setup.Ports.Manager),
		grpc.WithTransportCredentials(credentials.NewTLS(pki.ClientTLS(&store, pki.AcceptOnly(instanceIdentity(instance)), time.Now))))
	w.must(err)
	w.t.Cleanup(func() { _ = conn.Close() })
	return wire.NewInstanceClient(conn)
}

func (w *world) get(port int, path string) (status int, body string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, "http://"+local(port)+path, http.NoBody)
	w.must(err)
	resp, err := http.DefaultClient.Do(req)
	w.must(err)
	defer func() { _ = resp.Body.Close() }() // read to its end
	raw, err := io.ReadAll(resp.Body)
	w.must(err)
	return resp.StatusCode, string(raw)
}

// probesAndMetrics of a primary and a replica that are well.
func probesAndMetrics(w *world) {
	for _, name := range w.ha.inSync {
		p := w.instances[name].setup.Ports
		for _, path := range []string{naming.ProbeStartup, naming.ProbeLiveness, naming.ProbeReadiness} {
			if status, body := w.get(p.Probes, path); status != http.StatusOK {
				w.t.Errorf("%s of %s: %d %s", path, name, status, body)
			}
		}
		_, metrics := w.get(p.Metrics, "/metrics")
		for _, want := range []string{"mysql_instance_up 1\n", "mysql_instance_epoch 1\n", "mysql_instance_disk_free_bytes ", `mysql_instance_state{state="RUNNING"} 1`} {
			if !strings.Contains(metrics, want) {
				w.t.Errorf("the metrics of %s lack %q", name, want)
			}
		}
	}
}

// secretsAreNotLeftLying: no password is in a file of ours, but for those the server keeps.
func secretsAreNotLeftLying(w *world) {
	for _, name := range w.ha.inSync {
		paths := w.instances[name].setup.Paths
		if _, err := os.Stat(paths.InitFile()); !errors.Is(err, os.ErrNotExist) {
			w.t.Errorf("%s: the init file is still there", name)
		}
		for _, file := range []string{paths.Marker(), paths.MyCnf(), w.instances[name].log} {
			raw, err := os.ReadFile(file)
			w.must(err)
			for _, secret := range []string{"manager-1", "clone-1", "catchup-1", "owner's-1", "p'w-"} {
				if strings.Contains(string(raw), secret) {
					w.t.Errorf("%s holds the password %s", file, secret)
				}
			}
		}
	}
}
