// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"bytes"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the top of the checkout; tests run in their package's folder.
func root(t *testing.T) string {
	t.Helper()
	top, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}

	return top
}

// files lists what is tracked or about to be, relative to the root.
func files(t *testing.T, patterns ...string) []string {
	t.Helper()
	arguments := append([]string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}, patterns...)
	command := exec.CommandContext(t.Context(), "git", arguments...)
	command.Dir = root(t)
	output, err := command.Output()
	if err != nil {
		t.Fatalf("list files: %v", err)
	}
	found := strings.FieldsFunc(string(output), func(r rune) bool { return r == 0 })
	// A file that was removed but not yet committed is still listed.
	return slices.DeleteFunc(found, func(name string) bool {
		info, err := os.Stat(filepath.Join(root(t), name))
		return err != nil || info.IsDir()
	})
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root(t), name))
	if err != nil {
		t.Fatal(err)
	}

	return content
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, p := range goList(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if tree("api/*/applyconfiguration", name) != "" {
			continue // generated
		}
		if p.Doc == "" {
			t.Errorf("%s has no package comment", name)
		}
		if tree("cmd/*", name) == "" && !slices.Contains(p.GoFiles, "doc.go") {
			t.Errorf("%s has no doc.go", name)
		}
	}
}

func TestEveryFileNamesItsLicence(t *testing.T) {
	generated := regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	for _, name := range files(t, "*.go", "*.proto") {
		content := read(t, name)
		if generated.Match(content) {
			continue
		}
		if !bytes.HasPrefix(content, []byte("// SPDX-License-Identifier: Apache-2.0\n\n")) {
			t.Errorf("%s does not begin with the line %q and an empty line", name, "// SPDX-License-Identifier: Apache-2.0")
		}
	}
}

// TestTreeNamesNoMirror keeps the addresses of package mirrors and proxies where they belong,
// in the machine's own configuration: a tree that names one builds on one site only.
func TestTreeNamesNoMirror(t *testing.T) {
	mirrors := mirrorsOfThisMachine(t)
	if len(mirrors) == 0 {
		t.Log("this machine has no package mirror configured")
	}
	for _, name := range files(t) {
		content := read(t, name)
		for _, mirror := range mirrors {
			if bytes.Contains(content, []byte(mirror)) {
				t.Errorf("%s names %s, a package mirror or proxy of this machine; take it from the machine's configuration", name, mirror)
			}
		}
	}
}

// mirrorsOfThisMachine are the hosts that this machine's apt and Go take packages from.
func mirrorsOfThisMachine(t *testing.T) []string {
	t.Helper()
	var text strings.Builder
	for _, pattern := range []string{"/etc/apt/sources.list", "/etc/apt/sources.list.d/*", "/etc/apt/apt.conf", "/etc/apt/apt.conf.d/*"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(content)) {
				if !strings.HasPrefix(strings.TrimSpace(line), "#") {
					text.WriteString(line)
				}
			}
		}
	}
	output, err := exec.CommandContext(t.Context(), "go", "env", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	text.Write(output)

	return hosts(text.String())
}

func hosts(text string) []string {
	var found []string
	for _, address := range regexp.MustCompile(`https?://[^\s"',|;\]]+`).FindAllString(text, -1) {
		parsed, err := url.Parse(address)
		if err != nil || parsed.Host == "" || parsed.Host == "localhost" || parsed.Host == "127.0.0.1" {
			continue
		}
		found = append(found, parsed.Host)
	}
	slices.Sort(found)

	return slices.Compact(found)
}

func TestHostsAreReadFromConfiguration(t *testing.T) {
	got := hosts("deb http://mirror.invalid/debian sid main\nURIs: https://other.invalid:8443/x\nAcquire::http::Proxy \"http://proxy.invalid:3142\";\nhttps://go.invalid,direct\nhttp://localhost")
	want := []string{"go.invalid", "mirror.invalid", "other.invalid:8443", "proxy.invalid:3142"}
	if !slices.Equal(got, want) {
		t.Errorf("hosts() = %q, want %q", got, want)
	}
}
