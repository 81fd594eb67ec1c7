// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/image"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/registry"
)

// TestLoadedImagesSurviveRestart: an image loaded once is served by a second registry over the same folder.
func TestLoadedImagesSurviveRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	archive, want := write(t, "docker.io/library/thing:1")

	first := serve(t, dir)
	names, err := registry.Store{Address: first, Dir: dir}.Load(t.Context(), archive)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"docker.io/library/thing:1"}, names); diff != "" {
		t.Errorf("Load() mismatch (-want +got):\n%s", diff)
	}
	for _, address := range []string{first, serve(t, dir)} {
		if got := pull(t, address+"/library/thing:1"); got != want {
			t.Errorf("digest from %s = %s, want %s", address, got, want)
		}
	}
}

func TestUnknownImageIsNotFound(t *testing.T) {
	t.Parallel()
	response, err := http.Get("http://" + serve(t, t.TempDir()) + "/v2/library/nonesuch/manifests/1")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusNotFound {
		t.Errorf("status = %s, want 404", response.Status)
	}
}

func TestLoadRefusesWhatIsNoArchive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	address := serve(t, dir)
	file := filepath.Join(t.TempDir(), "empty.tar")
	if err := os.WriteFile(file, make([]byte, 1024), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (registry.Store{Address: address, Dir: dir}).Load(t.Context(), file); !errors.Is(err, registry.ErrArchive) {
		t.Errorf("Load() = %v, want ErrArchive", err)
	}
}

func serve(t *testing.T, dir string) string {
	t.Helper()
	handler, err := registry.Handler(dir)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func write(t *testing.T, full string) (string, v1.Hash) {
	t.Helper()
	img, err := image.Image{
		Platform: image.Platform{OS: "linux", Arch: "amd64"}, Work: t.TempDir(), Compressor: image.Zstd,
		Entries: []image.Entry{{Name: "file", Mode: 0o644, Content: []byte("content")}},
	}.Build()
	if err != nil {
		t.Fatal(err)
	}
	index, err := image.Index([]v1.Image{img})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "thing.tar")
	if err := image.WriteArchive(path, full, index); err != nil {
		t.Fatal(err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return path, digest
}

func pull(t *testing.T, reference string) v1.Hash {
	t.Helper()
	ref, err := name.ParseReference(reference, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	index, err := remote.Index(ref)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	img, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	blob, err := layers[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	_ = blob.Close()
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest
}
