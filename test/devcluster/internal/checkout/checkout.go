// SPDX-License-Identifier: Apache-2.0

package checkout

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// marker is the file that only the repository's root has below it.
const marker = "test/devcluster/go.mod"

// ErrNotFound means that no folder from the starting point up is a checkout of the project.
var ErrNotFound = errors.New("not inside a checkout of mysql-operator: no parent folder has " + marker)

// Root walks up from start to the root of the checkout.
func Root(start string) (string, error) {
	dir, err := filepath.Abs(start)
	if err != nil {
		return "", fmt.Errorf("resolve folder: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, marker)); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", ErrNotFound
		}
		dir = parent
	}
}

// Cache returns the folder for everything large that is built once: below xdg (the value of XDG_CACHE_HOME) or, when
// that is empty, below .cache of the home folder.
func Cache(xdg, home string) string {
	if xdg == "" {
		xdg = filepath.Join(home, ".cache")
	}
	return filepath.Join(xdg, "keelson")
}
