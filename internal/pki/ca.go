// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// ErrCA means that a certificate authority cannot be used.
var ErrCA = errors.New("unusable certificate authority")

const (
	organization = "keelson"

	// caLifetime is long, since every client of the application holds a copy of the authority's certificate.
	caLifetime = 10 * 365 * 24 * time.Hour
	// leafLifetime is short, since a key that leaked is of use so long. Renewal begins when a third is left: 30 days
	// for an operator that is down to come back.
	leafLifetime = 90 * 24 * time.Hour
	// backdate allows for clocks that are behind the operator's.
	backdate = time.Hour
)

// CA is the certificate authority of one cluster.
type CA struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewCA makes an authority. Each has a name of its own, so that old and new ones are told apart during a rotation.
func NewCA(now time.Time) (CA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return CA{}, fmt.Errorf("generate key: %w", err)
	}
	serial, err := newSerial()
	if err != nil {
		return CA{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject: pkix.Name{
			Organization: []string{organization},
			CommonName:   fmt.Sprintf("keelson cluster CA %.8x", serial.Bytes()),
		},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(caLifetime),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return CA{}, fmt.Errorf("sign authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return CA{}, fmt.Errorf("read signed authority: %w", err)
	}
	return CA{cert: cert, key: key}, nil
}

// ParseCA reads an authority as CertPEM and KeyPEM wrote it. The error wraps ErrCA.
func ParseCA(certPEM, keyPEM []byte) (CA, error) {
	cert, err := ParseCertificate(certPEM)
	if err != nil {
		return CA{}, fmt.Errorf("%w: %w", ErrCA, err)
	}
	key, err := parseKey(keyPEM)
	if err != nil {
		return CA{}, fmt.Errorf("%w: %w", ErrCA, err)
	}
	if !cert.IsCA {
		return CA{}, fmt.Errorf("%w: its certificate is not that of an authority", ErrCA)
	}
	if !key.PublicKey.Equal(cert.PublicKey) {
		return CA{}, fmt.Errorf("%w: the key belongs to another certificate", ErrCA)
	}
	return CA{cert: cert, key: key}, nil
}

// CertPEM returns the authority's certificate.
func (ca CA) CertPEM() []byte { return certPEM(ca.cert.Raw) }

// KeyPEM returns the authority's key.
func (ca CA) KeyPEM() ([]byte, error) { return keyPEM(ca.key) }

// Certificate returns the authority's certificate.
func (ca CA) Certificate() *x509.Certificate { return ca.cert }

// NeedsRenewal tells whether a certificate, an authority's or an issued one, has less than a third of its life left.
func NeedsRenewal(cert *x509.Certificate, now time.Time) bool {
	return !now.Before(RenewalTime(cert)) || now.Before(cert.NotBefore)
}

// RenewalTime returns when less than a third of a certificate's life is left.
func RenewalTime(cert *x509.Certificate) time.Time {
	return cert.NotAfter.Add(-cert.NotAfter.Sub(cert.NotBefore) / 3)
}

func newSerial() (*big.Int, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("draw serial number: %w", err)
	}
	return serial.Add(serial, big.NewInt(1)), nil
}
