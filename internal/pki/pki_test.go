// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/x509"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/keelson-dev/mysql-operator/internal/naming"
)

func start() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func mustCA(t *testing.T) CA {
	t.Helper()
	ca, err := NewCA(start())
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func mustIssue(t *testing.T, ca CA, r Request, now time.Time) Pair {
	t.Helper()
	p, err := ca.Issue(r, now)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustParse(t *testing.T, p Pair) *x509.Certificate {
	t.Helper()
	cert, err := ParseCertificate(p.CertPEM)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestCAReadsBackAsWritten(t *testing.T) {
	ca := mustCA(t)
	key, err := ca.KeyPEM()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseCA(ca.CertPEM(), key)
	if err != nil {
		t.Fatal(err)
	}
	p := mustIssue(t, again, InstanceRequest("ns", "db", "db-0"), start())
	if err := mustParse(t, p).CheckSignatureFrom(ca.Certificate()); err != nil {
		t.Errorf("what the re-read authority issued is not the authority's: %v", err)
	}
}

func TestParseCARefuses(t *testing.T) {
	ca, other := mustCA(t), mustCA(t)
	key, err := ca.KeyPEM()
	if err != nil {
		t.Fatal(err)
	}
	otherKey, err := other.KeyPEM()
	if err != nil {
		t.Fatal(err)
	}
	leaf := mustIssue(t, ca, InstanceRequest("ns", "db", "db-0"), start())
	for name, c := range map[string]struct{ cert, key []byte }{
		"nothing":                         {},
		"a certificate without its key":   {cert: ca.CertPEM()},
		"the key of another authority":    {cert: ca.CertPEM(), key: otherKey},
		"a certificate of no authority":   {cert: leaf.CertPEM, key: leaf.KeyPEM},
		"a key in place of a certificate": {cert: key, key: key},
		"a certificate in place of a key": {cert: ca.CertPEM(), key: ca.CertPEM()},
		"half a certificate":              {cert: ca.CertPEM()[:100], key: key},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ParseCA(c.cert, c.key); !errors.Is(err, ErrCA) {
				t.Errorf("ParseCA() = %v, want ErrCA", err)
			}
		})
	}
}

func TestIssuedCertificate(t *testing.T) {
	ca := mustCA(t)
	cert := mustParse(t, mustIssue(t, ca, InstanceRequest("shop", "db", "db-1"), start()))
	if diff := cmp.Diff("CN=db-1,OU=shop,O=keelson", cert.Subject.String()); diff != "" {
		t.Errorf("subject mismatch (-want +got):\n%s", diff)
	}
	id, err := CertificateIdentity(cert)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Identity{"shop", "db", "instance", "db-1"}, id); diff != "" {
		t.Errorf("identity mismatch (-want +got):\n%s", diff)
	}
	roots, err := ParseRoots(ca.CertPEM())
	if err != nil {
		t.Fatal(err)
	}
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		if _, err := cert.Verify(x509.VerifyOptions{
			Roots: roots, CurrentTime: start(), KeyUsages: []x509.ExtKeyUsage{usage}, DNSName: "db-1.db-pods.shop.svc",
		}); err != nil {
			t.Errorf("Verify() for usage %v = %v", usage, err)
		}
	}
	for _, host := range []string{"db-rw", "db-ro.shop", "db-r.shop.svc", "db-rw.shop.svc.cluster.local"} {
		if err := cert.VerifyHostname(host); err != nil {
			t.Errorf("VerifyHostname(%s) = %v", host, err)
		}
	}
	if cert.NotBefore.After(start()) {
		t.Errorf("NotBefore %v is in the future of a clock that is behind", cert.NotBefore)
	}
}

func TestLongestNamesFitASubject(t *testing.T) {
	ca := mustCA(t)
	cluster := strings.Repeat("c", naming.MaxClusterName)
	r := InstanceRequest(strings.Repeat("n", 63), cluster, naming.Instance(cluster, 8))
	cert := mustParse(t, mustIssue(t, ca, r, start()))
	// RFC 5280 allows 64 characters in OU and CN, and OpenSSL refuses more.
	for _, part := range append(cert.Subject.OrganizationalUnit, cert.Subject.CommonName) {
		if len(part) > 64 {
			t.Errorf("%q has %d characters, OpenSSL reads 64", part, len(part))
		}
	}
}

func TestIssueRefusesAWrongIdentity(t *testing.T) {
	ca := mustCA(t)
	for name, id := range map[string]Identity{
		"an instance of another cluster": {"ns", "db", naming.IdentityInstance, "other-0"},
		"an instance without a name":     {"ns", "db", naming.IdentityInstance, ""},
		"an operator with an instance":   {"ns", "db", naming.IdentityOperator, "db-0"},
		"a role nobody has":              {"ns", "db", "root", ""},
		"a slash in the namespace":       {"ns/db", "db", naming.IdentityOperator, ""},
		"no cluster":                     {"ns", "", naming.IdentityOperator, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ca.Issue(Request{Identity: id}, start()); !errors.Is(err, ErrIdentity) {
				t.Errorf("Issue(%+v) = %v, want ErrIdentity", id, err)
			}
		})
	}
}

func TestIssuedCertificateDoesNotOutliveItsAuthority(t *testing.T) {
	ca := mustCA(t)
	late := ca.Certificate().NotAfter.Add(-24 * time.Hour)
	cert := mustParse(t, mustIssue(t, ca, InstanceRequest("ns", "db", "db-0"), late))
	if !cert.NotAfter.Equal(ca.Certificate().NotAfter) {
		t.Errorf("NotAfter = %v, want the authority's %v", cert.NotAfter, ca.Certificate().NotAfter)
	}
}

func TestNeedsRenewal(t *testing.T) {
	cert := &x509.Certificate{NotBefore: start(), NotAfter: start().Add(90 * 24 * time.Hour)}
	day := func(n int) time.Time { return start().Add(time.Duration(n) * 24 * time.Hour) }
	for name, c := range map[string]struct {
		now  time.Time
		want bool
	}{
		"new":                             {day(0), false},
		"in the middle of its life":       {day(45), false},
		"just before the last third":      {day(60).Add(-time.Second), false},
		"at the last third":               {day(60), true},
		"expired":                         {day(91), true},
		"not valid yet: the clock jumped": {day(-1), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := NeedsRenewal(cert, c.now); got != c.want {
				t.Errorf("NeedsRenewal(%v) = %v, want %v", c.now, got, c.want)
			}
		})
	}
}

func TestStale(t *testing.T) {
	ca, other := mustCA(t), mustCA(t)
	r := InstanceRequest("ns", "db", "db-0")
	good := mustIssue(t, ca, r, start())
	renamed := r
	renamed.DNSNames = r.DNSNames[1:]
	for name, c := range map[string]struct {
		pair Pair
		req  Request
		now  time.Time
		want string
	}{
		"as issued":                 {good, r, start(), ""},
		"nothing stored":            {Pair{}, r, start(), "it does not exist"},
		"no key":                    {Pair{CertPEM: good.CertPEM}, r, start(), "it does not exist"},
		"rubbish":                   {Pair{CertPEM: []byte("x"), KeyPEM: good.KeyPEM}, r, start(), "its certificate cannot be read"},
		"another's key":             {Pair{CertPEM: good.CertPEM, KeyPEM: mustIssue(t, ca, r, start()).KeyPEM}, r, start(), "its key cannot be used"},
		"another instance's":        {good, InstanceRequest("ns", "db", "db-1"), start(), "it is another's"},
		"other names":               {good, renamed, start(), "its names changed"},
		"another authority's":       {mustIssue(t, other, r, start()), r, start(), "it is from another authority"},
		"in the last third of life": {good, r, start().Add(61 * 24 * time.Hour), "it expires"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, ca.Stale(c.pair, c.req, c.now)); diff != "" {
				t.Errorf("Stale() mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBundle(t *testing.T) {
	older, newer := mustCA(t), mustCA(t)
	both, err := Bundle(start(), newer.CertPEM(), older.CertPEM(), newer.CertPEM())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(slices.Concat(newer.CertPEM(), older.CertPEM())), string(both)); diff != "" {
		t.Errorf("Bundle() mismatch (-want +got):\n%s", diff)
	}
	later, err := NewCA(older.Certificate().NotAfter)
	if err != nil {
		t.Fatal(err)
	}
	one, err := Bundle(older.Certificate().NotAfter.Add(time.Second), both, later.CertPEM())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(later.CertPEM()), string(one)); diff != "" {
		t.Errorf("Bundle() without the expired mismatch (-want +got):\n%s", diff)
	}
	key, err := older.KeyPEM()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Bundle(start(), key); !errors.Is(err, ErrPEM) {
		t.Errorf("Bundle(key) = %v, want ErrPEM: a key must not be published", err)
	}
}

func TestParseIdentity(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Identity
		err  error
	}{
		"an instance":                {text: "keelson://ns/db/instance/db-0", want: Identity{"ns", "db", "instance", "db-0"}},
		"the operator":               {text: "keelson://ns/db/operator", want: Identity{"ns", "db", "operator", ""}},
		"another scheme":             {text: "spiffe://ns/db/operator", err: ErrIdentity},
		"another cluster's instance": {text: "keelson://ns/db/instance/dc-0", err: ErrIdentity},
		"a trailing slash":           {text: "keelson://ns/db/operator/", err: ErrIdentity},
		"too many parts":             {text: "keelson://ns/db/instance/db-0/x", err: ErrIdentity},
		"too few parts":              {text: "keelson://ns/db", err: ErrIdentity},
		"escapes":                    {text: "keelson://n%2Fs/db/operator", err: ErrIdentity},
		"a port":                     {text: "keelson://ns:1/db/operator", err: ErrIdentity},
		"upper case":                 {text: "keelson://NS/db/operator", err: ErrIdentity},
		"an unknown role":            {text: "keelson://ns/db/admin", err: ErrIdentity},
		"nothing":                    {text: "", err: ErrIdentity},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseIdentity(c.text)
			if !errors.Is(err, c.err) {
				t.Fatalf("ParseIdentity(%q) = %v, want %v", c.text, err, c.err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("ParseIdentity(%q) mismatch (-want +got):\n%s", c.text, diff)
			}
		})
	}
}

func FuzzParseIdentity(f *testing.F) {
	f.Add("keelson://ns/db/instance/db-0")
	f.Add("keelson://ns/db/operator")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := ParseIdentity(text)
		if err == nil && id.String() != text {
			t.Errorf("ParseIdentity(%q) = %v: two texts for one identity", text, id)
		}
	})
}
