// SPDX-License-Identifier: Apache-2.0

package instancetest

import (
	"crypto/tls"
	"testing"

	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// serial returns the serial number of the certificate that mysqld shows.
func (w *world) serial(name string) string {
	w.t.Helper()
	l := w.owner()
	var serial string
	l.tls.VerifyConnection = func(s tls.ConnectionState) error {
		serial = s.PeerCertificates[0].SerialNumber.String()
		return nil
	}
	w.must(w.open(name, l).PingContext(w.t.Context()))
	return serial
}

// Passwords that were lost and made anew, and a renewed certificate, reach a server that runs: until the next start
// nobody could join or clone, since an instance that is made now knows only the new ones.
func TestSecretsAndCertificatesChangeWhileItRuns(t *testing.T) {
	w := newWorld(t, 2)
	w.bootstrap()
	w.openAll()
	start, before := w.snapshot("db-0").GetServer().GetStartId(), w.serial("db-0")
	for _, key := range []string{naming.KeyManagerPassword, naming.KeyClonePassword, naming.KeyCatchupPassword, naming.KeyAppPassword} {
		w.secrets[key] = `new\'"` + key
	}
	for _, n := range w.instances {
		n.writeSecrets()
	}
	w.instances["db-0"].writeCertificate()
	w.eventually("the owner's new password is taken", func() bool {
		return w.open("db-0", w.owner()).PingContext(t.Context()) == nil
	})
	w.eventually("the new certificate is shown", func() bool { return w.serial("db-0") != before })
	w.admin("db-0").exec("CREATE TABLE app.t (id INT PRIMARY KEY)")
	w.clone("db-1")
	w.grow("db-1")
	w.equal()
	if got := w.snapshot("db-0").GetServer().GetStartId(); got != start {
		t.Error("mysqld was started again")
	}
}
