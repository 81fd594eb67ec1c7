// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"bytes"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/keelson-dev/mysql-operator/internal/testing/golden"
)

func goldenPath(name string) string { return filepath.Join("testdata", name+".golden.yaml") }

// compareGolden compares values, as YAML documents, with testdata/<name>.golden.yaml.
func compareGolden(t *testing.T, name string, values ...any) {
	t.Helper()
	documents := make([][]byte, 0, len(values))
	for _, value := range values {
		text, err := yaml.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, text)
	}
	golden.Compare(t, goldenPath(name), bytes.Join(documents, []byte("---\n")))
}

func TestEveryGoldenFileBelongsToATest(t *testing.T) {
	wanted := map[string]bool{}
	for name := range clusters() {
		wanted[goldenPath(name)] = true
	}
	golden.NoOrphans(t, "testdata", wanted)
}
