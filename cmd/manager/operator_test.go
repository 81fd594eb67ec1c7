// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/cache"
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

// informers are caches that are filled, or never are.
type informers struct {
	cache.Informers
	filled bool
}

func (i informers) WaitForCacheSync(ctx context.Context) bool {
	if !i.filled {
		<-ctx.Done()
	}
	return i.filled
}

// TestOperatorIsReadyOnceItsCachesAreFilled: one that merely listened let a rollout stop the old operator too early.
func TestOperatorIsReadyOnceItsCachesAreFilled(t *testing.T) {
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", http.NoBody)
	if err := synced(informers{filled: true})(request); err != nil {
		t.Errorf("with filled caches the check gave %v", err)
	}
	if err := synced(informers{})(request); !errors.Is(err, errNotSynced) {
		t.Errorf("with empty caches the check gave %v, want %v", err, errNotSynced)
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
