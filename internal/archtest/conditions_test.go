// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// constant is one typed constant with its comment.
type constant struct{ name, value, comment string }

// TestConditionsPage keeps docs/reference/conditions.md equal to the comments of the constants, which are the contract.
func TestConditionsPage(t *testing.T) {
	api := filepath.Join(root(t), "api", "v1", "conditions.go")
	var page strings.Builder
	page.WriteString("# Conditions and reasons\n\nGenerated from the comments in `api/v1/conditions.go` and `internal/planner/problems.go`; `make generate` rewrites it.\n\n## Conditions of a MySQLCluster\n")
	for _, c := range constants(t, api, "ConditionType") {
		page.WriteString("\n### " + c.value + "\n\n")
		for line := range strings.Lines(meaning(c)) {
			line = strings.TrimSpace(line)
			for _, status := range []string{"True:", "False:", "Unknown:"} {
				if strings.HasPrefix(line, status) {
					line = "\n* **" + strings.TrimSuffix(status, ":") + "**:" + strings.TrimPrefix(line, status)
				}
			}
			page.WriteString(line + "\n")
		}
	}
	page.WriteString("\n## Reasons of decisions\n\n| reason | meaning, and what you can do |\n|---|---|\n")
	for _, c := range constants(t, filepath.Join(root(t), "internal", "planner", "problems.go"), "Reason") {
		page.WriteString("| `" + c.value + "` | " + strings.Join(strings.Fields(meaning(c)), " ") + " |\n")
	}
	page.WriteString("\n## Other reasons\n\n| reason | meaning, and what you can do |\n|---|---|\n")
	for _, c := range constants(t, api, "Reason") {
		page.WriteString("| `" + c.value + "` | " + strings.Join(strings.Fields(meaning(c)), " ") + " |\n")
	}
	compareOrUpdate(t, filepath.Join(root(t), "docs", "reference", "conditions.md"), []byte(page.String()))
}

// meaning is the comment without the constant's name.
func meaning(c constant) string {
	text := strings.TrimPrefix(c.comment, c.name+" ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// constants returns the constants of that type in a file, in order; one without a comment fails the test.
func constants(t *testing.T, file, typeName string) []constant {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var out []constant
	for _, d := range tree.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, s := range group.Specs {
			if c, ok := typed(s, typeName); ok {
				if !strings.HasPrefix(c.comment, c.name+" ") {
					t.Fatalf("%s: the comment of %s must begin with its name: it is the contract, and the page is made of it", file, c.name)
				}
				out = append(out, c)
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s has no constants of type %s", file, typeName)
	}
	return out
}

func typed(s ast.Spec, typeName string) (constant, bool) {
	v, ok := s.(*ast.ValueSpec)
	if !ok || len(v.Values) != 1 {
		return constant{}, false
	}
	of, isIdent := v.Type.(*ast.Ident)
	literal, isLiteral := v.Values[0].(*ast.BasicLit)
	if !isIdent || of.Name != typeName || !isLiteral {
		return constant{}, false
	}
	value, err := strconv.Unquote(literal.Value)
	return constant{name: v.Names[0].Name, value: value, comment: strings.TrimSpace(v.Doc.Text())}, err == nil
}
