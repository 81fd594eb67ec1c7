// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseNamespaces(t *testing.T) {
	tests := map[string]struct {
		list string
		want []string
	}{
		"empty means all namespaces":       {list: "", want: nil},
		"one namespace":                    {list: "a", want: []string{"a"}},
		"several, with blanks and a comma": {list: "a, b,", want: []string{"a", "b"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, parseNamespaces(test.list)); diff != "" {
				t.Errorf("parseNamespaces(%q) mismatch (-want +got):\n%s", test.list, diff)
			}
		})
	}
}

func TestOperatorRefusesBadFlags(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"no workers": {
			args: []string{"operator", "--max-concurrent-reconciles=0"},
			want: "--max-concurrent-reconciles",
		},
		"a base delay above the longest": {
			args: []string{"operator", "--retry-base-delay=2s", "--retry-max-delay=1s"},
			want: "--retry-max-delay",
		},
		"a rate of nothing": {
			args: []string{"operator", "--retry-rate=0"},
			want: "--retry-rate",
		},
		"an argument that is no flag": {
			args: []string{"operator", "surplus"},
			want: "surplus",
		},
		"no sub-command": {
			args: []string{},
			want: "sub-command",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			command := newRootCommand(func(string) string { return "" })
			command.SetArgs(test.args)
			err := command.ExecuteContext(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("manager %v gave error %v, want one that names %q", test.args, err, test.want)
			}
		})
	}
}

func TestSchemeHoldsOurTypes(t *testing.T) {
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	for gvk := range scheme.AllKnownTypes() {
		if gvk.Group == "mysql.keelson.dev" && gvk.Kind == "MySQLCluster" {
			return
		}
	}
	t.Error("scheme does not hold MySQLCluster of mysql.keelson.dev")
}
