// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// Request is what a certificate is wanted for. All certificates serve both ends: mysqld shows the same one as a server
// and, as a replica, as a client.
type Request struct {
	Identity Identity
	// DNSNames are what applications may call an instance; empty for clients.
	DNSNames []string
}

// Pair is a certificate and its key in PEM.
type Pair struct {
	CertPEM, KeyPEM []byte
}

// MySQLSubject returns the subject of an instance's certificate as MySQL writes it in REQUIRE SUBJECT.
func MySQLSubject(namespace, instance string) string {
	return "/O=" + organization + "/OU=" + namespace + "/CN=" + instance
}

// subject is that of MySQLSubject: crypto/x509 writes O, OU and CN in this order.
func (r Request) subject() pkix.Name {
	name := r.Identity.Instance
	if name == "" {
		name = r.Identity.Role
	}
	return pkix.Name{
		Organization:       []string{organization},
		OrganizationalUnit: []string{r.Identity.Namespace},
		CommonName:         name,
	}
}

// Issue makes a key and signs a certificate for it. It does not outlive the authority.
func (ca CA) Issue(r Request, now time.Time) (Pair, error) {
	uri, err := r.Identity.uri()
	if err != nil {
		return Pair{}, fmt.Errorf("issue certificate: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("generate key: %w", err)
	}
	serial, err := newSerial()
	if err != nil {
		return Pair{}, err
	}
	end := now.Add(leafLifetime)
	if end.After(ca.cert.NotAfter) {
		end = ca.cert.NotAfter
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               r.subject(),
		NotBefore:             now.Add(-backdate),
		NotAfter:              end,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
		DNSNames:              r.DNSNames,
		URIs:                  []*url.URL{uri},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, key.Public(), ca.key)
	if err != nil {
		return Pair{}, fmt.Errorf("sign certificate of %s: %w", r.Identity, err)
	}
	keyText, err := keyPEM(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{CertPEM: certPEM(der), KeyPEM: keyText}, nil
}

// Stale returns why a stored pair must be issued again, or "" when it is as Issue would make it now.
func (ca CA) Stale(p Pair, r Request, now time.Time) string {
	if len(p.CertPEM) == 0 || len(p.KeyPEM) == 0 {
		return "it does not exist"
	}
	cert, err := ParseCertificate(p.CertPEM)
	if err != nil {
		return "its certificate cannot be read"
	}
	key, err := parseKey(p.KeyPEM)
	switch {
	case err != nil || !key.PublicKey.Equal(cert.PublicKey):
		return "its key cannot be used"
	case !r.describes(cert):
		return "it is another's"
	case !slices.Equal(cert.DNSNames, r.DNSNames):
		return "its names changed"
	case cert.CheckSignatureFrom(ca.cert) != nil:
		return "it is from another authority"
	case NeedsRenewal(cert, now):
		return "it expires"
	}
	return ""
}

// describes tells whether a certificate speaks for whom the request names, to gRPC peers and to MySQL alike.
func (r Request) describes(cert *x509.Certificate) bool {
	id, err := CertificateIdentity(cert)
	return err == nil && id == r.Identity && cert.Subject.String() == r.subject().String()
}

// InstanceRequest returns the request of an instance: its identity, and the names under which it and the cluster's
// Services are called, inside and outside the namespace.
func InstanceRequest(namespace, cluster, instance string) Request {
	var names []string
	add := func(host string) {
		names = append(names, host, host+".cluster.local")
	}
	add(naming.InstanceHost(namespace, cluster, instance))
	for _, service := range []string{naming.ServiceRW(cluster), naming.ServiceRO(cluster), naming.ServiceR(cluster)} {
		names = append(names, service, service+"."+namespace)
		add(naming.ServiceHost(namespace, service))
	}
	return Request{
		Identity: Identity{Namespace: namespace, Cluster: cluster, Role: naming.IdentityInstance, Instance: instance},
		DNSNames: names,
	}
}

// ClientRequest returns the request of a role that only calls: operator, backup, metrics.
func ClientRequest(namespace, cluster, role string) Request {
	return Request{Identity: Identity{Namespace: namespace, Cluster: cluster, Role: role}}
}
