// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"io"
	"os"

	"github.com/google/go-containerregistry/pkg/compression"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Platform is the kind of machine an image is for.
type Platform struct {
	OS   string
	Arch string
}

// Image is what goes into one image.
type Image struct {
	Platform   Platform
	Entries    []Entry
	Config     v1.Config
	Work       string // folder for the layer's tar; the caller removes it
	Compressor Compressor
}

// Compressor chooses how the layer is packed.
type Compressor string

// Gzip is understood everywhere; Zstd unpacks several times faster and is for images that stay in the cluster.
const (
	Gzip Compressor = "gzip"
	Zstd Compressor = "zstd"
)

// Build makes the image.
func (i Image) Build() (v1.Image, error) {
	layer, err := i.layer()
	if err != nil {
		return nil, fmt.Errorf("make layer: %w", err)
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.ConfigFile(base, &v1.ConfigFile{
		Architecture: i.Platform.Arch, OS: i.Platform.OS, Config: i.Config,
		RootFS: v1.RootFS{Type: "layers"}, Created: v1.Time{Time: epoch()},
	})
	if err != nil {
		return nil, fmt.Errorf("set image configuration: %w", err)
	}
	img, err = mutate.Append(img, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: epoch()}, CreatedBy: "make images"}})
	if err != nil {
		return nil, fmt.Errorf("add layer: %w", err)
	}
	return img, nil
}

func (i Image) layer() (v1.Layer, error) {
	f, err := os.CreateTemp(i.Work, "layer-*.tar")
	if err != nil {
		return nil, err
	}
	err = writeLayer(f, i.Entries)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	opener := func() (io.ReadCloser, error) { return os.Open(f.Name()) }
	if i.Compressor == Zstd {
		return tarball.LayerFromOpener(opener, tarball.WithCompression(compression.ZStd), tarball.WithMediaType(types.OCILayerZStd))
	}
	return tarball.LayerFromOpener(opener, tarball.WithMediaType(types.OCILayer))
}

// Index makes one image for several platforms.
func Index(images []v1.Image) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, img := range images {
		config, err := img.ConfigFile()
		if err != nil {
			return nil, fmt.Errorf("read image configuration: %w", err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: config.OS, Architecture: config.Architecture}},
		})
	}
	return index, nil
}
