// SPDX-License-Identifier: Apache-2.0

package mysqlroot

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMirrorIn(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file, text string
		want       string
	}{
		"one line": {file: "sources.list", text: "# deb http://old/debian x main\ndeb http://mirror/debian bookworm main contrib\n", want: "http://mirror/debian"},
		"one line with options": {
			file: "sources.list", text: "deb [arch=amd64 signed-by=/k.gpg] http://mirror/debian/ bookworm main\n", want: "http://mirror/debian/",
		},
		"the archives of security and of others do not count": {
			file: "x.list", text: "deb http://mirror/debian-security bookworm-security main\ndeb http://vendor/apt stable main\n",
		},
		"stanzas": {
			file: "debian.sources", want: "http://mirror/debian",
			text: "Types: deb\nURIs: http://mirror/debian-security\nSuites: bookworm-security\nComponents: main\n\nTypes: deb\n# why\nURIs: http://mirror/debian\nSuites: bookworm bookworm-updates\nComponents: main\n",
		},
		"nothing": {file: "x.list", text: "\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := mirrorIn(tt.file, tt.text)
			if got != tt.want || ok != (tt.want != "") {
				t.Errorf("mirrorIn() = %q, %t; want %q", got, ok, tt.want)
			}
		})
	}
}

func TestMirrorSaysWhenThereIsNone(t *testing.T) {
	t.Parallel()
	if _, err := Mirror(t.TempDir()); !errors.Is(err, ErrNoMirror) {
		t.Errorf("Mirror() = %v, want ErrNoMirror", err)
	}
}

func TestVersionOf(t *testing.T) {
	t.Parallel()
	const status = "Package: mysql-client-core\nVersion: 1\n\nPackage: mysql-server-core\nStatus: install ok installed\nVersion: 2:9.7.4+dfsg-2\n"
	got, err := versionOf(strings.NewReader(status), "mysql-server-core")
	if err != nil || got != "9.7.4" {
		t.Errorf("versionOf() = %q, %v; want 9.7.4", got, err)
	}
	if _, err := versionOf(strings.NewReader(""), "mysql-server-core"); err == nil {
		t.Error("versionOf() of an empty list gives no error")
	}
}

func TestNewestTree(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	if _, ok := newest(base); ok {
		t.Error("newest() finds a tree in an empty folder")
	}
	for _, version := range []string{Series + ".4", Series + ".10", "8.4.99"} {
		if err := os.MkdirAll(filepath.Join(base, version, "root"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if got, ok := newest(base); !ok || got.Version != Series+".10" {
		t.Errorf("newest() = %+v, want version %s.10", got, Series)
	}
}

// TestWrapperKeepsLeadingOptions runs a wrapper whose loader is echo: MySQL takes --defaults-file and its like only in
// front, so they must stay in front of what the wrapper adds.
func TestWrapperKeepsLeadingOptions(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	path := filepath.Join(root, loader)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	// The first five arguments are the loader's own and the program.
	if err := os.WriteFile(path, []byte("#!/bin/sh\nshift 5\nprintf '%s\\n' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	mysqld := filepath.Join(root, "mysqld")
	if err := os.WriteFile(mysqld, []byte(script(root, "usr/sbin/mysqld", []string{"--added=1 2"})), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ args, want []string }{
		"no options":              {want: []string{"--added=1 2"}},
		"ordinary options follow": {args: []string{"--port=1", "a b"}, want: []string{"--added=1 2", "--port=1", "a b"}},
		"a defaults file stays in front": {
			args: []string{"--defaults-file=/a b", "--port=1"}, want: []string{"--defaults-file=/a b", "--added=1 2", "--port=1"},
		},
		"two leading options": {
			args: []string{"--no-defaults", "--login-path=x", "y"}, want: []string{"--no-defaults", "--login-path=x", "--added=1 2", "y"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := exec.CommandContext(t.Context(), mysqld, tt.args...).Output()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")); diff != "" {
				t.Errorf("arguments mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
