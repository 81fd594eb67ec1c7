// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// TestRBACIsExpected compares every role in config/rbac with expected.txt, one line per resource,
// so that no privilege grows unseen: the diff of that file is part of the review.
func TestRBACIsExpected(t *testing.T) {
	const header = "# What each role may do. Rewritten by make generate; a new line here is a new privilege: say why in the commit.\n"
	var lines []string
	for _, name := range files(t, "config/rbac/*.yaml") {
		for _, line := range privileges(t, read(t, name)) {
			lines = append(lines, line+"\n")
		}
	}
	slices.Sort(lines)
	compareOrUpdate(t, filepath.Join(root(t), "config", "rbac", "expected.txt"), []byte(header+strings.Join(lines, "")))
}

func TestRBACHasNoWildcard(t *testing.T) {
	for _, name := range files(t, "config/rbac/*.yaml") {
		for _, line := range privileges(t, read(t, name)) {
			if reason := excessive(line); reason != "" {
				t.Errorf("%s: %q %s", name, line, reason)
			}
		}
	}
}

// excessive says what is wrong with a privilege, or nothing.
func excessive(line string) string {
	switch words := strings.Fields(line); {
	case strings.Contains(line, "*"):
		return "holds a wildcard"
	case slices.ContainsFunc(words, func(word string) bool { return word == "bind" || word == "escalate" || word == "impersonate" }):
		return "lets its holder become somebody else"
	}

	return ""
}

// privileges renders a role as lines: role, group/resource [names]: verbs.
func privileges(t *testing.T, content []byte) []string {
	t.Helper()
	// Role and ClusterRole have the same rules; other kinds have none.
	var role rbacv1.ClusterRole
	if err := yaml.Unmarshal(content, &role); err != nil {
		t.Fatal(err)
	}
	var lines []string
	add := func(what string, rule rbacv1.PolicyRule) {
		if len(rule.ResourceNames) > 0 {
			what += fmt.Sprintf(" %v", slices.Sorted(slices.Values(rule.ResourceNames)))
		}
		lines = append(lines, fmt.Sprintf("%s %s  %s: %s", role.Kind, role.Name, what, strings.Join(slices.Sorted(slices.Values(rule.Verbs)), " ")))
	}
	for _, rule := range role.Rules {
		for _, group := range rule.APIGroups {
			if group == "" {
				group = "core"
			}
			for _, resource := range rule.Resources {
				add(group+"/"+resource, rule)
			}
		}
		for _, address := range rule.NonResourceURLs {
			add(address, rule)
		}
	}

	return lines
}

func TestPrivilegesAreRendered(t *testing.T) {
	got := privileges(t, []byte(`
kind: Role
metadata: {name: a}
rules:
- {apiGroups: ["", apps], resources: [pods, "*"], verbs: [list, get]}
- {apiGroups: [""], resources: [secrets], resourceNames: [b, a], verbs: [get]}
- {nonResourceURLs: [/metrics], verbs: [get]}
`))
	want := []string{
		"Role a  core/pods: get list",
		"Role a  core/*: get list",
		"Role a  apps/pods: get list",
		"Role a  apps/*: get list",
		"Role a  core/secrets [a b]: get",
		"Role a  /metrics: get",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("privileges() mismatch (-want +got):\n%s", diff)
	}
	if excessive(want[1]) == "" || excessive("Role a  rbac/roles: escalate") == "" || excessive(want[0]) != "" {
		t.Error("excessive() does not tell a wildcard from an ordinary privilege")
	}
}
