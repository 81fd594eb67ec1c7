// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// ErrNoCertificate means that a Source has nothing yet.
var ErrNoCertificate = errors.New("no certificate yet")

// Material is what one handshake uses: a certificate, and whom it trusts at that moment.
type Material struct {
	Certificate tls.Certificate
	Roots       *x509.CertPool
}

// Source gives the current material, at each handshake anew. It must be safe for concurrent use.
type Source interface {
	Material() (Material, error)
}

// Store is a Source that is filled from outside when a file or a Secret changes. The zero value is empty.
type Store struct {
	current atomic.Pointer[Material]
}

var _ Source = (*Store)(nil)

// Set replaces the material. With an error the old one stays in use: half a change must not end the service.
func (s *Store) Set(p Pair, bundle []byte) error {
	m, err := ParseMaterial(p, bundle)
	if err != nil {
		return err
	}
	s.current.Store(&m)
	return nil
}

// Material returns what was set last, or ErrNoCertificate.
func (s *Store) Material() (Material, error) {
	if m := s.current.Load(); m != nil {
		return *m, nil
	}
	return Material{}, ErrNoCertificate
}

// ParseMaterial reads a pair and a bundle of authorities.
func ParseMaterial(p Pair, bundle []byte) (Material, error) {
	cert, err := tls.X509KeyPair(p.CertPEM, p.KeyPEM)
	if err != nil {
		return Material{}, fmt.Errorf("read certificate: %w", err)
	}
	roots, err := ParseRoots(bundle)
	if err != nil {
		return Material{}, fmt.Errorf("read authorities: %w", err)
	}
	return Material{Certificate: cert, Roots: roots}, nil
}

// ServerTLS returns the configuration of a server that talks only to peers of its own authority that accept welcomes.
// now is the clock, time.Now outside tests.
func ServerTLS(source Source, accept Accept, now func() time.Time) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			m, err := material(source)
			if err != nil {
				return nil, err
			}
			return &tls.Config{
				MinVersion:   tls.VersionTLS13,
				Certificates: []tls.Certificate{m.Certificate},
				ClientAuth:   tls.RequireAndVerifyClientCert,
				ClientCAs:    m.Roots,
				NextProtos:   protocols(),
				Time:         now,
				// A resumed session would trust an authority that has been taken away since.
				SessionTicketsDisabled: true,
				VerifyConnection: func(state tls.ConnectionState) error {
					return acceptPeer(state, accept)
				},
			}, nil
		},
	}
}

// ClientTLS returns the configuration of a client that talks only to servers of its own authority that accept welcomes,
// whatever address or name it dialled.
func ClientTLS(source Source, accept Accept, now func() time.Time) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		NextProtos: protocols(),
		Time:       now,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			m, err := material(source)
			if err != nil {
				return nil, err
			}
			return &m.Certificate, nil
		},
		// The peer is verified below, by chain and identity: crypto/tls would ask for a DNS name.
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection does what this turns off
		VerifyConnection: func(state tls.ConnectionState) error {
			m, err := material(source)
			if err != nil {
				return err
			}
			if err := verifyServer(state, m.Roots, now()); err != nil {
				return err
			}
			return acceptPeer(state, accept)
		},
	}
}

// material refuses a source without authorities: crypto/x509 would then ask those of the system.
func material(source Source) (Material, error) {
	m, err := source.Material()
	if err != nil {
		return Material{}, err
	}
	if m.Roots == nil {
		return Material{}, ErrNoCertificate
	}
	return m, nil
}

func verifyServer(state tls.ConnectionState, roots *x509.CertPool, now time.Time) error {
	if len(state.PeerCertificates) == 0 {
		return fmt.Errorf("%w: it showed no certificate", ErrIdentity)
	}
	between := x509.NewCertPool()
	for _, c := range state.PeerCertificates[1:] {
		between.AddCert(c)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	return nil
}

func acceptPeer(state tls.ConnectionState, accept Accept) error {
	peer, err := PeerIdentity(state)
	if err != nil {
		return err
	}
	return accept(peer)
}

// protocols: gRPC insists on h2 in ALPN.
func protocols() []string { return []string{"h2", "http/1.1"} }
