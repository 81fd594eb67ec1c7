// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/image"
)

// TestArchivesAreReproducible: the order in which files are listed, their times and the moment of the build must not
// show in the archive.
func TestArchivesAreReproducible(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(source, []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	entries := []image.Entry{
		{Name: "b", Mode: 0o755, Source: source},
		{Name: "a", Mode: 0o644, Content: []byte("text")},
		{Name: "c", Mode: fs.ModeSymlink | 0o777, Link: "a"},
		{Name: "d", Mode: fs.ModeDir | fs.ModeSticky | 0o777, UID: 999, GID: 999},
	}
	first := archive(t, entries)
	slices.Reverse(entries)
	if err := os.Chtimes(source, time.Unix(1e9, 0), time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	if second := archive(t, entries); !bytes.Equal(first, second) {
		t.Error("two archives of the same content differ")
	}
	entries[0].Mode = 0o600
	if third := archive(t, entries); bytes.Equal(first, third) {
		t.Error("a changed file does not change the archive")
	}
}

func archive(t *testing.T, entries []image.Entry) []byte {
	t.Helper()
	var images []v1.Image
	for _, arch := range []string{"amd64", "arm64"} {
		img, err := image.Image{
			Platform: image.Platform{OS: "linux", Arch: arch}, Entries: entries, Work: t.TempDir(), Compressor: image.Gzip,
		}.Build()
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, img)
	}
	index, err := image.Index(images)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "image.tar")
	if err := image.WriteArchive(path, "example.com/team/image:1", index); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestPutReplacesByName(t *testing.T) {
	t.Parallel()
	got := image.Put([]image.Entry{{Name: "etc/passwd", Content: []byte("old")}}, image.Entry{Name: "etc/passwd", Content: []byte("new")}, image.Entry{Name: "x"})
	if len(got) != 2 || string(got[0].Content) != "new" || got[1].Name != "x" {
		t.Errorf("Put() = %+v", got)
	}
}
