// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

const (
	blockCertificate = "CERTIFICATE"
	blockKey         = "PRIVATE KEY"
)

// ErrPEM means that a text is not the PEM of what was asked for.
var ErrPEM = errors.New("bad PEM")

// ParseCertificate reads the first certificate of a PEM text.
func ParseCertificate(text []byte) (*x509.Certificate, error) {
	certs, err := parseCertificates(text)
	if err != nil {
		return nil, err
	}
	return certs[0], nil
}

// ParseRoots reads a bundle of authorities: one, or the old and the new one during a rotation.
func ParseRoots(bundle []byte) (*x509.CertPool, error) {
	certs, err := parseCertificates(bundle)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	for _, c := range certs {
		pool.AddCert(c)
	}
	return pool, nil
}

// Bundle joins authorities in the given order, each once, without those that have expired.
func Bundle(now time.Time, texts ...[]byte) ([]byte, error) {
	var out bytes.Buffer
	seen := map[string]bool{}
	for _, text := range texts {
		certs, err := parseCertificates(text)
		if err != nil {
			return nil, fmt.Errorf("join authorities: %w", err)
		}
		for _, c := range certs {
			if seen[string(c.Raw)] || now.After(c.NotAfter) {
				continue
			}
			seen[string(c.Raw)] = true
			out.Write(certPEM(c.Raw))
		}
	}
	return out.Bytes(), nil
}

// parseCertificates reads at least one certificate, and nothing else.
func parseCertificates(text []byte) ([]*x509.Certificate, error) {
	var certs []*x509.Certificate
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			break
		}
		text = rest
		if block.Type != blockCertificate {
			return nil, fmt.Errorf("%w: found %s, want certificates", ErrPEM, block.Type)
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPEM, err)
		}
		certs = append(certs, cert)
	}
	if len(certs) == 0 {
		return nil, fmt.Errorf("%w: no certificate", ErrPEM)
	}
	return certs, nil
}

func parseKey(text []byte) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != blockKey {
		return nil, fmt.Errorf("%w: no %s", ErrPEM, blockKey)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPEM, err)
	}
	ec, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%w: the key is not an ECDSA key", ErrPEM)
	}
	return ec, nil
}

func certPEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: blockCertificate, Bytes: der})
}

// keyPEM writes PKCS #8, which mysqld reads as OpenSSL does.
func keyPEM(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("write key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: blockKey, Bytes: der}), nil
}
