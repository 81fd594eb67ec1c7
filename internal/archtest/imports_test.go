// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/keelson-dev/mysql-operator"

// self is the import path of a tree of this module.
func self(tree string) string { return module + "/" + tree }

// listed is what `go list` says about one package.
type listed struct {
	ImportPath string
	Doc        string
	GoFiles    []string
	Imports    []string
	Deps       []string
}

func goList(t *testing.T) []listed {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Doc,GoFiles,Imports,Deps", "./...")
	command.Dir = root(t)
	output, err := command.Output()
	if err != nil {
		t.Fatalf("list packages: %v", err)
	}
	var packages []listed
	decoder := json.NewDecoder(strings.NewReader(string(output)))
	for {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("decode output of go list: %v", err)
		}
		packages = append(packages, p)
	}
}

// tree returns the part of the path that the pattern covers,
// or an empty string where the path lies outside the pattern.
func tree(pattern, name string) string {
	wanted, have := strings.Split(pattern, "/"), strings.Split(name, "/")
	if len(have) < len(wanted) {
		return ""
	}
	for i := range wanted {
		if matched, err := path.Match(wanted[i], have[i]); err != nil || !matched {
			return ""
		}
	}

	return strings.Join(have[:len(wanted)], "/")
}

// rowOf finds the row with the longest pattern that covers the package.
func rowOf(rows []row, name string) (found row, known bool) {
	for _, r := range rows {
		if tree(r.path, name) != "" && (!known || strings.Count(r.path, "/") > strings.Count(found.path, "/")) {
			found, known = r, true
		}
	}

	return found, known
}

// inside says whether the import path is the prefix or lies below it.
// "k8s.io/" and "k8s.io" mean the same; "k8s.io/api" does not cover "k8s.io/apimachinery".
func inside(importPath, prefix string) bool {
	prefix = strings.TrimSuffix(prefix, "/")

	return importPath == prefix || strings.HasPrefix(importPath, prefix+"/")
}

// allows says whether the row lets its package import another package of this module.
func (r row) allows(rows []row, name, imported string) bool {
	if slices.Contains(r.may, anything) {
		return true
	}
	// The row's own tree, as long as the other package has no narrower row of its own.
	if own := tree(r.path, name); inside(imported, own) {
		if other, known := rowOf(rows, imported); known && other.path == r.path {
			return true
		}
	}

	return slices.ContainsFunc(r.may, func(pattern string) bool { return tree(pattern, imported) != "" })
}

// helperOfTests says whether a package exists for tests: internal/testing, and names such as plannertest.
func helperOfTests(name string) bool {
	return tree("internal/testing", name) != "" || strings.HasSuffix(name, "test") || tree("test", name) != ""
}

// violations is every way in which the packages break the table.
func violations(rows []row, packages []listed) []string {
	var broken []string
	for _, p := range packages {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		r, known := rowOf(rows, name)
		if !known {
			broken = append(broken, fmt.Sprintf("%s is in no row of internal/archtest/layers_test.go", name))
			continue
		}
		for _, imported := range p.Imports {
			other, ours := strings.CutPrefix(imported, module+"/")
			switch {
			case !ours:
			case helperOfTests(other) && !helperOfTests(name):
				broken = append(broken, fmt.Sprintf("%s imports %s: only tests may import helpers of tests", name, other))
			case !r.allows(rows, name, other):
				broken = append(broken, fmt.Sprintf("%s imports %s: the row %s does not allow it (%s)", name, other, r.path, r.why))
			}
		}
		broken = append(broken, banned(r, name, p.Deps)...)
	}

	return broken
}

// banned names each broken ban once, with the first dependency that breaks it:
// one wrong import often drags in a hundred packages.
func banned(r row, name string, dependencies []string) []string {
	var broken []string
	for _, prefix := range r.ban {
		if i := slices.IndexFunc(dependencies, func(d string) bool { return inside(d, prefix) }); i >= 0 {
			broken = append(broken, fmt.Sprintf("%s depends on %s: the row %s bans %s (%s)", name, dependencies[i], r.path, prefix, r.why))
		}
	}

	return broken
}

func TestLayers(t *testing.T) {
	for _, broken := range violations(layers, goList(t)) {
		t.Error(broken)
	}
}

// TestLayersCheckSees keeps the checker itself honest: a rule that matches nothing is silent.
func TestLayersCheckSees(t *testing.T) {
	tests := map[string]struct {
		give listed
		want string
	}{
		"a package in no row": {
			give: listed{ImportPath: self("internal/util")},
			want: "internal/util is in no row",
		},
		"a direct import upward": {
			give: listed{ImportPath: self("internal/planner"), Imports: []string{self("internal/mysql")}},
			want: "internal/planner imports internal/mysql",
		},
		"an indirect dependency on SQL": {
			give: listed{ImportPath: self("internal/planner/plannertest"), Deps: []string{"database/sql"}},
			want: "internal/planner/plannertest depends on database/sql",
		},
		"an instance that reaches the API server": {
			give: listed{ImportPath: self("internal/instance/role"), Deps: []string{"k8s.io/client-go/rest"}},
			want: "internal/instance/role depends on k8s.io/client-go/rest",
		},
		"a controller that imports its sibling": {
			give: listed{ImportPath: self("internal/controller/backup"), Imports: []string{self("internal/controller/mysqlcluster")}},
			want: "internal/controller/backup imports internal/controller/mysqlcluster",
		},
		"a controller that reaches into the instance manager": {
			give: listed{ImportPath: self("internal/controller/mysqlcluster"), Imports: []string{self("internal/instance/role")}},
			want: "internal/controller/mysqlcluster imports internal/instance/role",
		},
		"the client that starts mysqld": {
			give: listed{ImportPath: self("internal/instance/client"), Imports: []string{self("internal/instance/supervisor")}},
			want: "internal/instance/client imports internal/instance/supervisor",
		},
		"a product package that imports helpers of tests": {
			give: listed{ImportPath: self("cmd/manager"), Imports: []string{self("internal/testing/kubeapi")}},
			want: "only tests may import",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			broken := violations(layers, []listed{test.give})
			if len(broken) != 1 || !strings.Contains(broken[0], test.want) {
				t.Errorf("violations() = %q, want one that says %q", broken, test.want)
			}
		})
	}
}

func TestLayersCheckAllows(t *testing.T) {
	packages := []listed{
		{ImportPath: self("internal/instance/role"), Imports: []string{self("internal/instance/epoch"), self("internal/mysql"), "fmt"}},
		{ImportPath: self("internal/planner"), Imports: []string{self("internal/gtid")}},
		{ImportPath: self("internal/controller/mysqlcluster"), Imports: []string{self("api/v1"), self("api/v1/applyconfiguration/api/v1"), self("internal/instance/client")}},
		{ImportPath: self("internal/testing/kubeapi"), Imports: []string{self("api/v1")}},
		{ImportPath: self("internal/wire"), Deps: []string{"net/http", "google.golang.org/grpc"}},
	}
	if diff := cmp.Diff([]string(nil), violations(layers, packages)); diff != "" {
		t.Errorf("violations() mismatch (-want +got):\n%s", diff)
	}
}
