// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files of this package")

// golden compares values, as YAML documents, with testdata/<name>.golden.yaml.
func golden(t *testing.T, name string, values ...any) {
	t.Helper()
	var got []byte
	for i, value := range values {
		text, err := yaml.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			got = append(got, "---\n"...)
		}
		got = append(got, text...)
	}
	path := filepath.Join("testdata", name+".golden.yaml")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s mismatch (-want +got); if you understand what caused it, run go test -update:\n%s", path, diff)
	}
}

// TestNoOrphanedGoldenFiles fails for a golden file that no test compares with any more.
func TestNoOrphanedGoldenFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.golden.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := make([]string, 0, len(files))
	for name := range clusters() {
		want = append(want, filepath.Join("testdata", name+".golden.yaml"))
	}
	for _, file := range files {
		found := false
		for _, w := range want {
			found = found || w == file
		}
		if !found {
			t.Errorf("%s belongs to no test: delete it", file)
		}
	}
}
