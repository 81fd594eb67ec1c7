// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/instance/layout"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/pki"
)

const (
	secretMode = 0o600
	folderMode = 0o750
)

// certificates are this instance's, as mounted: for the manager's own connections, and copied for mysqld.
type certificates struct {
	paths    layout.Paths
	identity pki.Identity
	store    pki.Store
	current  [3][]byte // CA, certificate, key as they are in use
}

// refresh takes the mounted files if they changed; changed tells that mysqld must load them too. Half of a change
// (the kubelet swaps the folder between two reads) is refused and tried again at the next call.
func (c *certificates) refresh() (changed bool, err error) {
	var files [3][]byte
	instance := c.identity.Instance
	for i, name := range []string{naming.KeyCACert, instance + ".crt", instance + ".key"} {
		if files[i], err = os.ReadFile(filepath.Join(c.paths.TLS, name)); err != nil { //nolint:gosec // the pod's own layout
			return false, fmt.Errorf("read certificates: %w", err)
		}
	}
	if bytes.Equal(files[0], c.current[0]) && bytes.Equal(files[1], c.current[1]) && bytes.Equal(files[2], c.current[2]) {
		return false, nil
	}
	if err := c.store.Set(pki.Pair{CertPEM: files[1], KeyPEM: files[2]}, files[0]); err != nil {
		return false, fmt.Errorf("take certificates: %w", err)
	}
	if err := c.copyOut(files); err != nil {
		return false, err
	}
	c.current = files
	return true, nil
}

func (c *certificates) copyOut(files [3][]byte) error {
	if err := os.MkdirAll(filepath.Dir(c.paths.CA()), folderMode); err != nil {
		return fmt.Errorf("copy certificates: %w", err)
	}
	var errs []error
	for i, path := range []string{c.paths.CA(), c.paths.Cert(), c.paths.Key()} {
		errs = append(errs, os.WriteFile(path+".new", files[i], secretMode)) //nolint:gosec // the pod's own layout
		errs = append(errs, os.Rename(path+".new", path))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("copy certificates: %w", err)
	}
	return nil
}

// server returns the configuration of the manager's own service.
func (c *certificates) server() *tls.Config {
	return pki.ServerTLS(&c.store, pki.AcceptCluster(c.identity.Namespace, c.identity.Cluster), time.Now)
}

// client returns the configuration to call one peer.
func (c *certificates) client(instance string) *tls.Config {
	peer := c.identity
	peer.Instance = instance
	return pki.ClientTLS(&c.store, pki.AcceptOnly(peer), time.Now)
}
