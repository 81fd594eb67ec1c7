// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// ErrIdentity means that a peer is not who it should be, or does not say who it is.
var ErrIdentity = errors.New("peer refused")

// Identity is who a certificate speaks for.
type Identity struct {
	Namespace string
	Cluster   string
	Role      string // one of naming.Identity…
	Instance  string // for the role instance only
}

// String returns the URI SAN.
func (i Identity) String() string {
	return naming.Identity(i.Namespace, i.Cluster, i.Role, i.Instance)
}

// ParseIdentity reads what String wrote, and nothing that only looks like it.
func ParseIdentity(text string) (Identity, error) {
	rest, ok := strings.CutPrefix(text, "keelson://")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) < 3 || len(parts) > 4 {
		return Identity{}, fmt.Errorf("%w: %q is no identity", ErrIdentity, text)
	}
	id := Identity{Namespace: parts[0], Cluster: parts[1], Role: parts[2]}
	if len(parts) == 4 {
		id.Instance = parts[3]
	}
	if err := id.check(); err != nil {
		return Identity{}, err
	}
	if id.String() != text {
		return Identity{}, fmt.Errorf("%w: %q is not how %s is written", ErrIdentity, text, id)
	}
	return id, nil
}

// check refuses an identity whose text could be read in another way, and a role that nobody has.
func (i Identity) check() error {
	for _, part := range []string{i.Namespace, i.Cluster} {
		if !isName(part) {
			return fmt.Errorf("%w: %q in %s is no name", ErrIdentity, part, i)
		}
	}
	switch i.Role {
	case naming.IdentityInstance:
		if _, ok := naming.Ordinal(i.Cluster, i.Instance); !ok {
			return fmt.Errorf("%w: %s names no instance of its cluster", ErrIdentity, i)
		}
	case naming.IdentityOperator, naming.IdentityBackup, naming.IdentityMetrics:
		if i.Instance != "" {
			return fmt.Errorf("%w: %s is no instance, but names one", ErrIdentity, i)
		}
	default:
		return fmt.Errorf("%w: %s has no known role", ErrIdentity, i)
	}
	return nil
}

// isName: what Kubernetes allows in names of namespaces and clusters.
func isName(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// CertificateIdentity returns the one identity of a certificate. It does not verify the certificate.
func CertificateIdentity(cert *x509.Certificate) (Identity, error) {
	if len(cert.URIs) != 1 {
		return Identity{}, fmt.Errorf("%w: its certificate has %d URIs, want one", ErrIdentity, len(cert.URIs))
	}
	return ParseIdentity(cert.URIs[0].String())
}

// PeerIdentity returns who is at the other end of a connection that ServerTLS or ClientTLS accepted.
func PeerIdentity(state tls.ConnectionState) (Identity, error) {
	if len(state.PeerCertificates) == 0 {
		return Identity{}, fmt.Errorf("%w: it showed no certificate", ErrIdentity)
	}
	return CertificateIdentity(state.PeerCertificates[0])
}

// Accept tells whether a peer is welcome; an error wraps ErrIdentity and says why not.
type Accept func(Identity) error

// AcceptCluster accepts every role of one cluster. What each may do is for the caller to decide.
func AcceptCluster(namespace, cluster string) Accept {
	return func(peer Identity) error {
		if peer.Namespace != namespace || peer.Cluster != cluster {
			return fmt.Errorf("%w: %s is not of %s/%s", ErrIdentity, peer, namespace, cluster)
		}
		return nil
	}
}

// AcceptOnly accepts one identity: who calls db-1 must not be answered by db-2.
func AcceptOnly(want Identity) Accept {
	return func(peer Identity) error {
		if peer != want {
			return fmt.Errorf("%w: it is %s, want %s", ErrIdentity, peer, want)
		}
		return nil
	}
}

// uri returns the identity as a SAN.
func (i Identity) uri() (*url.URL, error) {
	if err := i.check(); err != nil {
		return nil, err
	}
	u, err := url.Parse(i.String())
	if err != nil {
		return nil, fmt.Errorf("write identity: %w", err)
	}
	return u, nil
}
