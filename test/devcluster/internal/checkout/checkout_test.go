// SPDX-License-Identifier: Apache-2.0

package checkout_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/checkout"
)

func TestRoot(t *testing.T) {
	t.Parallel()
	want, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := checkout.Root("."); err != nil || got != want {
		t.Errorf("Root() = %q, %v; want %q", got, err, want)
	}
	if _, err := checkout.Root(t.TempDir()); !errors.Is(err, checkout.ErrNotFound) {
		t.Errorf("Root() outside of a checkout = %v, want ErrNotFound", err)
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	if got := checkout.Cache("", "/home/x"); got != "/home/x/.cache/keelson" {
		t.Errorf("Cache() = %q", got)
	}
	if got := checkout.Cache("/xdg", "/home/x"); got != "/xdg/keelson" {
		t.Errorf("Cache() = %q", got)
	}
}
