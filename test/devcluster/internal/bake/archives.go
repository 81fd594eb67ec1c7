// SPDX-License-Identifier: Apache-2.0

package bake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/imagenames"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/mysqlroot"
)

// recipe is part of the name of a cached archive: raise it when this package packs the same files differently.
const recipe = "1"

// Kitchen makes the images that do not change with the checkout and keeps their archives in the cache.
type Kitchen struct {
	Root     string // of the checkout
	Cache    string
	Names    imagenames.Names
	Progress io.Writer
}

// Pause returns the archive of the pause image.
func (k Kitchen) Pause(ctx context.Context) (string, error) {
	return k.once("pause-"+recipe, func(path string) error {
		return Pause(ctx, k.Root, k.Names.Pause, runtime.GOARCH, path)
	})
}

// MySQL returns the archive of the MySQL test image, named after the version that the tree holds.
func (k Kitchen) MySQL(tree mysqlroot.Tree) (string, error) {
	return k.once("mysql-"+tree.Version+"-"+recipe, func(path string) error {
		return MySQL(tree, k.Names.MySQL+":"+tree.Version, runtime.GOARCH, path)
	})
}

func (k Kitchen) once(name string, produce func(string) error) (string, error) {
	dir := filepath.Join(k.Cache, "images")
	path := filepath.Join(dir, name+".tar")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look for archive: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("create cache: %w", err)
	}
	_, _ = fmt.Fprintf(k.Progress, "making image archive %s\n", name)
	return path, produce(path)
}
