// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// archive writes OCI archives: a tar with an image layout, which podman, skopeo, ctr and recent Docker read.
type archive struct {
	out  *tar.Writer
	have map[v1.Hash]bool
}

// Describable is an image or an index of images.
type Describable interface {
	MediaType() (types.MediaType, error)
	Digest() (v1.Hash, error)
	Size() (int64, error)
	RawManifest() ([]byte, error)
}

// WriteArchive writes an image, or an index of images, under its full name. The file appears when it is complete.
func WriteArchive(path, name string, content Describable) error {
	f, err := os.Create(path + ".new")
	if err != nil {
		return fmt.Errorf("create archive: %w", err)
	}
	err = writeArchive(f, name, content)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("keep archive: %w", err)
	}
	return nil
}

func writeArchive(w io.Writer, name string, content Describable) error {
	a := &archive{out: tar.NewWriter(w), have: map[v1.Hash]bool{}}
	if err := a.file("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)); err != nil {
		return err
	}
	if err := a.add(content); err != nil {
		return err
	}
	top, err := describe(content)
	if err != nil {
		return err
	}
	tag := name[strings.LastIndexByte(name, ':')+1:]
	// Docker and containerd read the full name, podman and skopeo the tag.
	top.Annotations = map[string]string{"io.containerd.image.name": name, "org.opencontainers.image.ref.name": tag}
	index, err := json.Marshal(v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{top}})
	if err != nil {
		return err
	}
	if err := a.file("index.json", index); err != nil {
		return err
	}
	return a.out.Close()
}

func describe(content Describable) (v1.Descriptor, error) {
	media, err1 := content.MediaType()
	digest, err2 := content.Digest()
	size, err3 := content.Size()
	return v1.Descriptor{MediaType: media, Digest: digest, Size: size}, errors.Join(err1, err2, err3)
}

// add writes what the content refers to, then its own manifest.
func (a *archive) add(content Describable) error {
	var err error
	switch c := content.(type) {
	case v1.ImageIndex:
		err = a.children(c)
	case v1.Image:
		err = a.parts(c)
	}
	if err != nil {
		return err
	}
	digest, err := content.Digest()
	if err != nil {
		return err
	}
	manifest, err := content.RawManifest()
	if err != nil {
		return err
	}
	return a.blob(digest, manifest)
}

func (a *archive) children(index v1.ImageIndex) error {
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	for _, d := range manifest.Manifests {
		img, err := index.Image(d.Digest)
		if err != nil {
			return err
		}
		if err := a.add(img); err != nil {
			return err
		}
	}
	return nil
}

func (a *archive) parts(img v1.Image) error {
	layers, err := img.Layers()
	if err != nil {
		return err
	}
	for _, layer := range layers {
		if err := a.layer(layer); err != nil {
			return err
		}
	}
	digest, err := img.ConfigName()
	if err != nil {
		return err
	}
	config, err := img.RawConfigFile()
	if err != nil {
		return err
	}
	return a.blob(digest, config)
}

func (a *archive) layer(layer v1.Layer) error {
	digest, err := layer.Digest()
	if err != nil || a.have[digest] {
		return err
	}
	a.have[digest] = true
	size, err := layer.Size()
	if err != nil {
		return err
	}
	content, err := layer.Compressed()
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	if err := a.header("blobs/sha256/"+digest.Hex, size); err != nil {
		return err
	}
	_, err = io.Copy(a.out, content)
	return err
}

func (a *archive) blob(digest v1.Hash, content []byte) error {
	if a.have[digest] {
		return nil
	}
	a.have[digest] = true
	return a.file("blobs/sha256/"+digest.Hex, content)
}

func (a *archive) file(name string, content []byte) error {
	if err := a.header(name, int64(len(content))); err != nil {
		return err
	}
	_, err := a.out.Write(content)
	return err
}

func (a *archive) header(name string, size int64) error {
	return a.out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: epoch(), Format: tar.FormatUSTAR})
}
