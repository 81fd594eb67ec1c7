// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// store returns a Source with a certificate that ca issued, and the bundle as whom it trusts.
func store(t *testing.T, ca CA, r Request, bundle []byte) *Store {
	t.Helper()
	s := &Store{}
	if err := s.Set(mustIssue(t, ca, r, start()), bundle); err != nil {
		t.Fatal(err)
	}
	return s
}

// ends is what became of a handshake at either end, and whom the server saw.
type ends struct {
	server, client error
	peer           Identity
}

func (e ends) ok() bool { return e.server == nil && e.client == nil }

// handshake connects the two ends.
func handshake(t *testing.T, server, client *tls.Config) ends {
	t.Helper()
	a, b := net.Pipe()
	s, c := tls.Server(a, server), tls.Client(b, client)
	done := make(chan error, 1)
	go func() {
		err := s.HandshakeContext(t.Context())
		if err == nil {
			_, err = s.Write([]byte("x"))
		}
		_ = a.Close()
		done <- err
	}()
	out := ends{}
	out.client = c.HandshakeContext(t.Context())
	if out.client == nil {
		// In TLS 1.3 a client learns only now that the server refused its certificate.
		_, out.client = c.Read(make([]byte, 1))
	}
	_ = b.Close()
	out.server = <-done
	if out.server == nil {
		id, err := PeerIdentity(s.ConnectionState())
		if err != nil {
			t.Fatal(err)
		}
		out.peer = id
	}
	return out
}

func TestHandshake(t *testing.T) {
	ca, other := mustCA(t), mustCA(t)
	both := slices.Concat(ca.CertPEM(), other.CertPEM())
	db0, op := InstanceRequest("ns", "db", "db-0"), ClientRequest("ns", "db", naming.IdentityOperator)
	inCluster := AcceptCluster("ns", "db")
	expired := func() time.Time { return start().Add(91 * 24 * time.Hour) }
	for name, c := range map[string]struct {
		server     Source
		client     Source
		clientWant Accept
		now        func() time.Time
		ok         bool
	}{
		"the operator calls an instance": {
			server: store(t, ca, db0, ca.CertPEM()), client: store(t, ca, op, ca.CertPEM()), clientWant: AcceptOnly(db0.Identity), ok: true,
		},
		"an instance answers in place of another": {
			server: store(t, ca, InstanceRequest("ns", "db", "db-1"), ca.CertPEM()), client: store(t, ca, op, ca.CertPEM()),
			clientWant: AcceptOnly(db0.Identity),
		},
		"a caller of another cluster, same authority": {
			server: store(t, ca, db0, ca.CertPEM()), client: store(t, ca, ClientRequest("ns", "dc", naming.IdentityOperator), ca.CertPEM()),
			clientWant: AcceptOnly(db0.Identity),
		},
		"a caller of another authority": {
			server: store(t, ca, db0, ca.CertPEM()), client: store(t, other, op, both), clientWant: inCluster,
		},
		"a server of another authority": {
			server: store(t, other, db0, both), client: store(t, ca, op, ca.CertPEM()), clientWant: inCluster,
		},
		"during a rotation each end may be the new one's": {
			server: store(t, ca, db0, both), client: store(t, other, op, both), clientWant: inCluster, ok: true,
		},
		"expired certificates": {
			server: store(t, ca, db0, ca.CertPEM()), client: store(t, ca, op, ca.CertPEM()), clientWant: inCluster, now: expired,
		},
		"a server without a certificate yet": {
			server: &Store{}, client: store(t, ca, op, ca.CertPEM()), clientWant: inCluster,
		},
		"a client without a certificate yet": {
			server: store(t, ca, db0, ca.CertPEM()), client: &Store{}, clientWant: inCluster,
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := c.now
			if now == nil {
				now = start
			}
			got := handshake(t, ServerTLS(c.server, inCluster, now), ClientTLS(c.client, c.clientWant, now))
			if got.ok() != c.ok {
				t.Errorf("handshake: server %v, client %v, want success %v", got.server, got.client, c.ok)
			}
			if c.ok && got.peer != op.Identity {
				t.Errorf("the server saw %v, want %v", got.peer, op.Identity)
			}
		})
	}
}

func TestClientWithoutCertificateIsRefused(t *testing.T) {
	ca := mustCA(t)
	server := ServerTLS(store(t, ca, InstanceRequest("ns", "db", "db-0"), ca.CertPEM()), AcceptCluster("ns", "db"), start)
	client := ClientTLS(store(t, ca, ClientRequest("ns", "db", naming.IdentityOperator), ca.CertPEM()), AcceptCluster("ns", "db"), start)
	client.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &tls.Certificate{}, nil }
	if got := handshake(t, server, client); got.server == nil {
		t.Error("a client without a certificate was served")
	}
}

func TestCertificatesAreReplacedWhileServersRun(t *testing.T) {
	ca, next := mustCA(t), mustCA(t)
	db0, op := InstanceRequest("ns", "db", "db-0"), ClientRequest("ns", "db", naming.IdentityOperator)
	serverStore, clientStore := store(t, ca, db0, ca.CertPEM()), store(t, ca, op, ca.CertPEM())
	server, client := ServerTLS(serverStore, AcceptCluster("ns", "db"), start), ClientTLS(clientStore, AcceptOnly(db0.Identity), start)
	try := func(what string, want bool) {
		t.Helper()
		if got := handshake(t, server, client); got.ok() != want {
			t.Errorf("%s: server %v, client %v, want success %v", what, got.server, got.client, want)
		}
	}
	set := func(s *Store, from CA, r Request, bundle []byte) {
		t.Helper()
		if err := s.Set(mustIssue(t, from, r, start()), bundle); err != nil {
			t.Fatal(err)
		}
	}
	both := slices.Concat(next.CertPEM(), ca.CertPEM())
	try("before", true)
	set(serverStore, ca, db0, both)
	set(clientStore, ca, op, both)
	try("both trusted", true)
	set(serverStore, next, db0, both)
	try("the server has the new one", true)
	set(clientStore, next, op, next.CertPEM())
	set(serverStore, next, db0, next.CertPEM())
	try("after", true)
	set(clientStore, ca, op, next.CertPEM())
	try("the old one is no longer trusted", false)
}

func TestStoreKeepsWhatItHasWhenHalfAChangeArrives(t *testing.T) {
	ca := mustCA(t)
	s := store(t, ca, InstanceRequest("ns", "db", "db-0"), ca.CertPEM())
	before, err := s.Material()
	if err != nil {
		t.Fatal(err)
	}
	next := mustIssue(t, ca, InstanceRequest("ns", "db", "db-0"), start())
	if err := s.Set(Pair{CertPEM: next.CertPEM, KeyPEM: []byte("half")}, ca.CertPEM()); err == nil {
		t.Error("Set() with half a key = nil, want an error")
	}
	if err := s.Set(next, nil); !errors.Is(err, ErrPEM) {
		t.Errorf("Set() without authorities = %v, want ErrPEM", err)
	}
	after, err := s.Material()
	if err != nil || after.Roots != before.Roots {
		t.Errorf("Material() = %v, want the first one kept", err)
	}
}

// rootless forgets its authorities.
type rootless struct{ Source }

func (r rootless) Material() (Material, error) {
	m, err := r.Source.Material()
	m.Roots = nil
	return m, err
}

func TestASourceWithoutAuthoritiesTrustsNobody(t *testing.T) {
	ca := mustCA(t)
	db0, op := InstanceRequest("ns", "db", "db-0"), ClientRequest("ns", "db", naming.IdentityOperator)
	full, client := store(t, ca, db0, ca.CertPEM()), store(t, ca, op, ca.CertPEM())
	accept := AcceptCluster("ns", "db")
	if got := handshake(t, ServerTLS(rootless{full}, accept, start), ClientTLS(client, accept, start)); got.client == nil {
		t.Error("a server without authorities accepted a client")
	}
	if got := handshake(t, ServerTLS(full, accept, start), ClientTLS(rootless{client}, accept, start)); !errors.Is(got.client, ErrNoCertificate) {
		t.Errorf("a client without authorities: %v, want ErrNoCertificate", got.client)
	}
}
