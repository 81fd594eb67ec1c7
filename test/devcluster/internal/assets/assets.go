// SPDX-License-Identifier: Apache-2.0

package assets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/filelock"
)

// Builder builds what is missing in the cache.
type Builder struct {
	Root     string    // root of the checkout
	Cache    string    // folder of the cache
	Progress io.Writer // one line per step, and the output of the Go tool
}

// Envtest returns a folder with kube-apiserver, etcd and kubectl: the value for KUBEBUILDER_ASSETS.
func (b Builder) Envtest(ctx context.Context) (string, error) {
	return b.ensure(ctx, "envtest", func(c component) bool { return c.envtest })
}

// All returns a folder with every program of the development cluster.
func (b Builder) All(ctx context.Context) (string, error) {
	return b.ensure(ctx, "cluster", func(component) bool { return true })
}

func (b Builder) ensure(ctx context.Context, set string, want func(component) bool) (string, error) {
	if err := os.MkdirAll(b.Cache, 0o755); err != nil {
		return "", fmt.Errorf("create cache: %w", err)
	}
	var dirs []string
	sum := sha256.New()
	for _, c := range components() {
		if !want(c) {
			continue
		}
		dir, err := b.component(ctx, c)
		if err != nil {
			return "", err
		}
		dirs = append(dirs, dir)
		_, _ = io.WriteString(sum, filepath.Base(dir)+"\n")
	}
	target := filepath.Join(b.Cache, set+"-"+hex.EncodeToString(sum.Sum(nil))[:12])
	return target, linkAll(target, dirs)
}

// component returns the folder of one built component. The lock keeps two builds of the same thing from running side
// by side; the folder appears under its name only when it is complete.
func (b Builder) component(ctx context.Context, c component) (string, error) {
	source := filepath.Join(b.Root, "test/devcluster/build", c.name)
	key, err := hash(source, c)
	if err != nil {
		return "", err
	}
	target := filepath.Join(b.Cache, "components", c.name+"-"+key)
	if _, err := os.Stat(target); err == nil {
		return target, nil
	}
	unlock, err := filelock.Take(filepath.Join(b.Cache, "."+c.name+".lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(target); err == nil {
		return target, nil // Somebody else built it while this process waited.
	}
	work := target + ".building"
	if err := os.RemoveAll(work); err != nil {
		return "", fmt.Errorf("remove half-built component: %w", err)
	}
	_, _ = fmt.Fprintf(b.Progress, "building %s (once for this version)\n", c.name)
	if err := b.compile(ctx, c, source, work); err != nil {
		return "", fmt.Errorf("build %s: %w", c.name, err)
	}
	if err := os.Rename(work, target); err != nil {
		return "", fmt.Errorf("keep %s: %w", c.name, err)
	}
	return target, nil
}

func (b Builder) compile(ctx context.Context, c component, source, work string) error {
	for _, program := range slices.Sorted(maps.Keys(c.programs)) {
		args := []string{"build", "-trimpath", "-ldflags", "-s -w" + c.ldflags, "-tags", c.tags, "-o", filepath.Join(work, program), c.programs[program]}
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = source
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-mod=readonly")
		cmd.Stdout, cmd.Stderr = b.Progress, b.Progress
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("compile %s: %w", program, err)
		}
		for _, link := range c.links {
			if err := os.Symlink(program, filepath.Join(work, link)); err != nil {
				return fmt.Errorf("link %s: %w", link, err)
			}
		}
	}
	return nil
}

// hash covers everything that decides what comes out of a build.
func hash(source string, c component) (string, error) {
	sum := sha256.New()
	_, _ = fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH, c.tags, c.ldflags, c.programs, c.links)
	err := filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintln(sum, strings.TrimPrefix(path, source), len(text))
		_, _ = sum.Write(text)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("hash %s: %w", c.name, err)
	}
	return hex.EncodeToString(sum.Sum(nil))[:12], nil
}

// linkAll makes target a folder of links to every program of dirs.
func linkAll(target string, dirs []string) error {
	if err := os.MkdirAll(target, 0o755); err != nil {
		return fmt.Errorf("create folder of programs: %w", err)
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("list programs: %w", err)
		}
		for _, entry := range entries {
			path := filepath.Join(target, entry.Name())
			if err := os.Symlink(filepath.Join(dir, entry.Name()), path); err != nil && !errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("link program: %w", err)
			}
		}
	}
	return nil
}
