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
		"no workers":                     {args: []string{"--max-concurrent-reconciles=0"}, want: "--max-concurrent-reconciles"},
		"a base delay above the longest": {args: []string{"--rate-limit-base-delay=2s", "--rate-limit-max-delay=1s"}, want: "--rate-limit-max-delay"},
		"a rate of nothing":              {args: []string{"--rate-limit-qps=0"}, want: "--rate-limit-qps"},
		"an argument that is no flag":    {args: []string{"surplus"}, want: "surplus"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parseOperatorOptions(test.args, func(string) string { return "" })
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("parseOperatorOptions(%v) gave error %v, want one that names %q", test.args, err, test.want)
			}
		})
	}
}

func TestWatchedNamespacesComeFromTheEnvironment(t *testing.T) {
	getenv := func(name string) string { return map[string]string{"WATCH_NAMESPACE": "a,b"}[name] }
	options, err := parseOperatorOptions(nil, getenv)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, options.watchNamespaces); diff != "" {
		t.Errorf("watched namespaces mismatch (-want +got):\n%s", diff)
	}
	options, err = parseOperatorOptions([]string{"--watch-namespace=c"}, getenv)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c"}, options.watchNamespaces); diff != "" {
		t.Errorf("watched namespaces mismatch, the flag should win (-want +got):\n%s", diff)
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
