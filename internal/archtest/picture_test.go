// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the files that these tests keep true")

const (
	beginPicture = "<!-- begin: drawn by internal/archtest; make generate rewrites it -->"
	endPicture   = "<!-- end: drawn by internal/archtest -->"
)

// TestLayersPicture fails when docs/architecture.md shows other rules, or other imports, than there are.
func TestLayersPicture(t *testing.T) {
	file := filepath.Join(root(t), "docs", "architecture.md")
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(have), beginPicture)
	_, after, ended := strings.Cut(rest, endPicture)
	if !begun || !ended {
		t.Fatalf("docs/architecture.md lacks the lines %q and %q", beginPicture, endPicture)
	}
	want := before + beginPicture + "\n\n" + draw(layers, goList(t)) + "\n" + endPicture + after
	compareOrUpdate(t, file, []byte(want))
}

// compareOrUpdate compares a file with what it should hold, or writes it when asked to.
func compareOrUpdate(t *testing.T, file string, want []byte) {
	t.Helper()
	have, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	if bytes.Equal(have, want) {
		return
	}
	if !*update {
		t.Fatalf("%s is not what it should be; make generate rewrites it (-want +got):\n%s", filepath.Base(file), cmp.Diff(string(want), string(have)))
	}
	if err := os.WriteFile(file, want, 0o644); err != nil {
		t.Fatal(err)
	}
}

func draw(rows []row, packages []listed) string {
	var out strings.Builder
	drawImports(&out, rows, packages)
	out.WriteString("\nEach row holds for a whole tree; the narrowest row counts.\n\n")
	out.WriteString("| layer | package | may import from this module | must not depend on, even indirectly | why |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&out, "| %s | `%s` | %s | %s | %s |\n", r.layer, short(r.path), names(r.may), names(r.ban), r.why)
	}

	return out.String()
}

// drawImports draws the imports that exist now between trees of the product.
// cmd is left out: it constructs everything, so its arrows would hide the others.
func drawImports(out *strings.Builder, rows []row, packages []listed) {
	nodes, edges := map[string]map[string]bool{}, map[string]bool{}
	for _, p := range packages {
		from, known := rowOf(rows, strings.TrimPrefix(p.ImportPath, module+"/"))
		if !known || from.layer == layerOutside || from.path == "cmd/*" {
			continue
		}
		if nodes[from.layer] == nil {
			nodes[from.layer] = map[string]bool{}
		}
		nodes[from.layer][from.path] = true
		for _, imported := range p.Imports {
			name, ours := strings.CutPrefix(imported, module+"/")
			if to, known := rowOf(rows, name); ours && known && to.path != from.path {
				edges[fmt.Sprintf("  %s --> %s\n", id(from.path), id(to.path))] = true
			}
		}
	}
	out.WriteString("```mermaid\ngraph TD\n")
	for _, layer := range slices.Backward(slices.Sorted(maps.Keys(nodes))) {
		fmt.Fprintf(out, "  subgraph %s[\"%s\"]\n", id(layer), layer)
		for _, node := range slices.Sorted(maps.Keys(nodes[layer])) {
			fmt.Fprintf(out, "    %s[\"%s\"]\n", id(node), short(node))
		}
		out.WriteString("  end\n")
	}
	for _, edge := range slices.Sorted(maps.Keys(edges)) {
		out.WriteString(edge)
	}
	out.WriteString("```\n")
}

// id is a name that the drawing language takes.
func id(name string) string {
	return strings.NewReplacer("/", "_", "*", "each", " ", "_").Replace("n_" + name)
}

func short(tree string) string {
	return strings.TrimPrefix(strings.TrimPrefix(tree, module+"/"), "internal/")
}

func names(list []string) string {
	if len(list) == 0 {
		return "–"
	}
	quoted := make([]string, 0, len(list))
	for _, name := range list {
		if name != anything {
			name = "`" + strings.TrimSuffix(short(name), "/") + "`"
		}
		quoted = append(quoted, name)
	}

	return strings.Join(quoted, ", ")
}
