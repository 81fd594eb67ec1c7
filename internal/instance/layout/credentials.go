// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// Credentials are what the mounted Secrets say now. A Secret that was lost and made anew heals at the next start of
// mysqld, which takes the passwords from here.
type Credentials struct {
	Manager, Clone, Catchup string
	Owner, OwnerPassword    string // both empty while the application's Secret has none
}

// ReadCredentials reads them.
func (p Paths) ReadCredentials() (Credentials, error) {
	var c Credentials
	for _, f := range []struct {
		path     string
		into     *string
		optional bool
	}{
		{filepath.Join(p.Internal, naming.KeyManagerPassword), &c.Manager, false},
		{filepath.Join(p.Internal, naming.KeyClonePassword), &c.Clone, false},
		{filepath.Join(p.Internal, naming.KeyCatchupPassword), &c.Catchup, false},
		{filepath.Join(p.App, naming.KeyAppUsername), &c.Owner, true},
		{filepath.Join(p.App, naming.KeyAppPassword), &c.OwnerPassword, true},
	} {
		raw, err := os.ReadFile(f.path)
		if errors.Is(err, os.ErrNotExist) && f.optional {
			continue
		}
		if err != nil {
			return Credentials{}, fmt.Errorf("read Secret: %w", err)
		}
		*f.into = strings.TrimSpace(string(raw))
		if *f.into == "" && !f.optional {
			return Credentials{}, fmt.Errorf("read Secret: %s is empty", f.path)
		}
	}
	return c, nil
}
