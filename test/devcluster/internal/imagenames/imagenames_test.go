// SPDX-License-Identifier: Apache-2.0

package imagenames

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	const text = "# A ?= no\nREGISTRY ?= ghcr.io/x\nOPERATOR_IMAGE ?= $(REGISTRY)/op\nother: rule\n"
	tests := map[string]struct {
		override map[string]string
		want     map[string]string
	}{
		"as written":              {want: map[string]string{"REGISTRY": "ghcr.io/x", "OPERATOR_IMAGE": "ghcr.io/x/op"}},
		"an override reaches all": {override: map[string]string{"REGISTRY": "r"}, want: map[string]string{"REGISTRY": "r", "OPERATOR_IMAGE": "r/op"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, parse(text, tt.override)); diff != "" {
				t.Errorf("parse() mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRead reads the project's own list.
func TestRead(t *testing.T) {
	t.Parallel()
	names, err := Read("../../../..", nil)
	if err != nil {
		t.Fatal(err)
	}
	if names.MySQL != "docker.io/library/mysql" {
		t.Errorf("MySQL image = %q: spec.version means docker.io/library/mysql", names.MySQL)
	}
}
