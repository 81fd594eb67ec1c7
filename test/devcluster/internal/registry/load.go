// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// nameAnnotations may carry an image's full name in an archive's index; the first that is set wins.
func nameAnnotations() []string {
	return []string{"io.containerd.image.name", "org.opencontainers.image.ref.name"}
}

// ErrArchive means that a file is not an OCI archive with named images.
var ErrArchive = errors.New("not an OCI archive with a named image")

// Store is a registry as its owner sees it: where it answers and where its files are.
type Store struct {
	Address string
	Dir     string
}

// Load puts every image of an OCI archive into the registry and returns their names. Blobs go to the registry's
// folder directly, so that a large layer does not travel through its memory.
func (s Store) Load(ctx context.Context, archive string) ([]string, error) {
	work, err := os.MkdirTemp(s.Dir, "load-")
	if err != nil {
		return nil, fmt.Errorf("create work folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := s.unpack(archive, work); err != nil {
		return nil, fmt.Errorf("unpack %s: %w", archive, err)
	}
	index, err := layout.ImageIndexFromPath(work)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrArchive, archive, err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrArchive, archive, err)
	}
	var names []string
	for _, descriptor := range manifest.Manifests {
		image := imageName(descriptor)
		if image == "" {
			continue
		}
		if err := s.push(ctx, index, descriptor, image); err != nil {
			return nil, fmt.Errorf("load %s: %w", image, err)
		}
		names = append(names, image)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrArchive, archive)
	}
	return names, nil
}

func imageName(d v1.Descriptor) string {
	for _, key := range nameAnnotations() {
		if value := d.Annotations[key]; strings.Contains(value, "/") {
			return value
		}
	}
	return ""
}

func (s Store) push(ctx context.Context, index v1.ImageIndex, d v1.Descriptor, image string) error {
	wanted, err := name.ParseReference(image)
	if err != nil {
		return fmt.Errorf("parse name: %w", err)
	}
	target, err := name.ParseReference(s.Address+"/"+wanted.Context().RepositoryStr()+":"+wanted.Identifier(), name.Insecure)
	if err != nil {
		return fmt.Errorf("parse name: %w", err)
	}
	return write(target, index, d, remote.WithContext(ctx))
}

func write(target name.Reference, index v1.ImageIndex, d v1.Descriptor, options ...remote.Option) error {
	if d.MediaType.IsIndex() {
		child, err := index.ImageIndex(d.Digest)
		if err != nil {
			return fmt.Errorf("read index: %w", err)
		}
		return remote.WriteIndex(target, child, options...)
	}
	child, err := index.Image(d.Digest)
	if err != nil {
		return fmt.Errorf("read image: %w", err)
	}
	return remote.Write(target, child, options...)
}

// Push pushes the only image of an OCI archive to any registry, under its own name or another one, and returns the
// name.
func Push(ctx context.Context, archive, to string, keys authn.Keychain) (string, error) {
	work, err := os.MkdirTemp("", "push-")
	if err != nil {
		return "", fmt.Errorf("create work folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	s := Store{Dir: filepath.Join(work, "store")}
	if err := os.MkdirAll(BlobDir(s.Dir), 0o755); err != nil {
		return "", fmt.Errorf("create work folder: %w", err)
	}
	if err := s.unpack(archive, work); err != nil {
		return "", fmt.Errorf("unpack %s: %w", archive, err)
	}
	index, err := layout.ImageIndexFromPath(work)
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrArchive, archive, err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrArchive, archive, err)
	}
	if len(manifest.Manifests) != 1 {
		return "", fmt.Errorf("%w: %s holds %d images", ErrArchive, archive, len(manifest.Manifests))
	}
	if to == "" {
		to = imageName(manifest.Manifests[0])
	}
	target, err := name.ParseReference(to)
	if err != nil {
		return "", fmt.Errorf("parse name: %w", err)
	}
	if err := write(target, index, manifest.Manifests[0], remote.WithContext(ctx), remote.WithAuthFromKeychain(keys)); err != nil {
		return "", fmt.Errorf("push %s: %w", to, err)
	}
	return to, nil
}

// unpack puts the archive's blobs into the registry and makes work a layout folder over them.
func (s Store) unpack(archive, work string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	blobs, err := filepath.Abs(filepath.Join(s.Dir, "blobs"))
	if err != nil {
		return err
	}
	if err := os.Symlink(blobs, filepath.Join(work, "blobs")); err != nil {
		return err
	}
	entries := tar.NewReader(f)
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.unpackEntry(entry, entries, work); err != nil {
			return err
		}
	}
}

// unpackEntry keeps a blob or a file that describes the archive; anything else is left out.
func (s Store) unpackEntry(entry *tar.Header, content io.Reader, work string) error {
	dir, file := path.Split(path.Clean(entry.Name))
	switch {
	case entry.Typeflag != tar.TypeReg:
		return nil
	case dir == "blobs/sha256/":
		return writeBlob(filepath.Join(BlobDir(s.Dir), file), file, content)
	case dir == "" && (file == "index.json" || file == "oci-layout"):
		return writeFile(filepath.Join(work, file), content)
	}
	return nil
}

// writeBlob keeps a blob only under the digest that its content really has.
func writeBlob(target, digest string, content io.Reader) error {
	if _, err := os.Stat(target); err == nil {
		return nil
	}
	temporary, err := os.CreateTemp(filepath.Dir(target), ".load-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }()
	got, _, err := v1.SHA256(io.TeeReader(content, temporary))
	if err := errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	if got.Hex != digest {
		return fmt.Errorf("blob %s has digest %s", digest, got.Hex)
	}
	if err := os.Chmod(temporary.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), target)
}

func writeFile(target string, content io.Reader) error {
	f, err := os.Create(target)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}
