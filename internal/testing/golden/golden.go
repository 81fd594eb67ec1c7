// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files instead of comparing with them") //nolint:gochecknoglobals // flags are globals by design

// Compare fails the test when got differs from the file (a path relative to the package, such as
// testdata/small.golden.cnf).
func Compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		write(t, file, got)
		return
	}
	want, err := os.ReadFile(file) //nolint:gosec // the test names the file
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s does not exist: write it with `go test -update`, and read it before it is committed", file)
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s mismatch (-want +got); write it with `go test -update` only when the difference is meant:\n%s", file, diff)
	}
}

// NoOrphans fails the test when the folder holds a golden file (a name with .golden.) that is not among the wanted.
// With -update it removes them.
func NoOrphans(t *testing.T, folder string, wanted map[string]bool) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if !strings.Contains(e.Name(), ".golden.") || wanted[path] {
			continue
		}
		if !*update {
			t.Errorf("%s belongs to no test: remove it", path)
			continue
		}
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

func write(t *testing.T, file string, got []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, got, 0o600); err != nil {
		t.Fatal(err)
	}
}
