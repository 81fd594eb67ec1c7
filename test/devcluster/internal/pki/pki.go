// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// lifetime is long because a cluster that is kept for months must not die of its certificates.
const lifetime = 10 * 365 * 24 * time.Hour

// Identity is whom a certificate speaks for.
type Identity struct {
	File   string // base name of the files
	User   string // common name
	Groups []string
	DNS    []string
	IPs    []net.IP
}

// Authority is a certificate authority kept in a folder.
type Authority struct {
	dir  string
	now  time.Time
	cert *x509.Certificate
	key  crypto.Signer
}

// Open reads the authority in dir and makes it when it is missing.
func Open(dir string, now time.Time) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create folder of certificates: %w", err)
	}
	a := &Authority{dir: dir, now: now}
	cert, key, err := read(filepath.Join(dir, "ca"))
	if err == nil {
		a.cert, a.key = cert, key
		return a, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read certificate authority: %w", err)
	}
	return a, a.create()
}

func (a *Authority) create() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("generate key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "keelson-devcluster"},
		NotBefore: a.now.Add(-time.Hour), NotAfter: a.now.Add(lifetime),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return fmt.Errorf("sign certificate authority: %w", err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return fmt.Errorf("parse certificate authority: %w", err)
	}
	a.key = key
	return write(filepath.Join(a.dir, "ca"), der, key)
}

// Issue makes the certificate of an identity unless it exists.
func (a *Authority) Issue(id Identity) error {
	base := filepath.Join(a.dir, id.File)
	if _, err := os.Stat(base + ".crt"); err == nil {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("generate key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return fmt.Errorf("choose serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: id.User, Organization: id.Groups},
		NotBefore: a.now.Add(-time.Hour), NotAfter: a.now.Add(lifetime), DNSNames: id.DNS, IPAddresses: id.IPs,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("sign certificate of %s: %w", id.User, err)
	}
	return write(base, der, key)
}

// SigningKey makes the key pair NAME.key, NAME.pub for service account tokens unless it exists.
func (a *Authority) SigningKey(name string) error {
	base := filepath.Join(a.dir, name)
	if _, err := os.Stat(base + ".pub"); err == nil {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("generate key: %w", err)
	}
	if err := writeKey(base+".key", key); err != nil {
		return err
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("encode public key: %w", err)
	}
	return writePEM(base+".pub", "PUBLIC KEY", der, 0o644)
}

// write puts the certificate last: where it exists, the key does too.
func write(base string, der []byte, key *ecdsa.PrivateKey) error {
	if err := writeKey(base+".key", key); err != nil {
		return err
	}
	return writePEM(base+".crt", "CERTIFICATE", der, 0o644)
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode key: %w", err)
	}
	return writePEM(path, "EC PRIVATE KEY", der, 0o600)
}

func writePEM(path, kind string, der []byte, mode fs.FileMode) error {
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(path+".new", text, mode); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

func read(base string) (*x509.Certificate, crypto.Signer, error) {
	certText, err := os.ReadFile(base + ".crt")
	if err != nil {
		return nil, nil, err
	}
	keyText, err := os.ReadFile(base + ".key")
	if err != nil {
		return nil, nil, err
	}
	certBlock, _ := pem.Decode(certText)
	keyBlock, _ := pem.Decode(keyText)
	if certBlock == nil || keyBlock == nil {
		return nil, nil, fmt.Errorf("no certificate in %s", base)
	}
	cert, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, nil, err
	}
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	return cert, key, err
}
