// SPDX-License-Identifier: Apache-2.0

package bake

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/image"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/mysqlroot"
)

// searchPath finds mysqld too, which lives in sbin.
const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Nonroot is the user of the operator's image.
const Nonroot = 65532

// Operator says how to make the operator's image.
type Operator struct {
	Root    string // root of the checkout
	Name    string // full name of the image
	Version string
	LDFlags string // of the manager binary, beside the usual ones
	Arches  []string
}

// Write builds the manager for each architecture and writes the archive. It returns the digest of the image.
func (o Operator) Write(ctx context.Context, path string) (v1.Hash, error) {
	work, err := os.MkdirTemp("", "operator-image-")
	if err != nil {
		return v1.Hash{}, fmt.Errorf("create work folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	var images []v1.Image
	for _, arch := range o.Arches {
		img, err := o.build(ctx, arch, work)
		if err != nil {
			return v1.Hash{}, fmt.Errorf("make operator image for %s: %w", arch, err)
		}
		images = append(images, img)
	}
	index, err := image.Index(images)
	if err != nil {
		return v1.Hash{}, err
	}
	if err := image.WriteArchive(path, o.Name, index); err != nil {
		return v1.Hash{}, err
	}
	return index.Digest()
}

func (o Operator) build(ctx context.Context, arch, work string) (v1.Image, error) {
	binary := filepath.Join(work, "manager-"+arch)
	manager := program{dir: o.Root, pkg: "./cmd/manager", arch: arch, ldflags: o.LDFlags}
	if err := manager.build(ctx, binary); err != nil {
		return nil, err
	}
	return image.Image{
		Platform: image.Platform{OS: "linux", Arch: arch}, Work: work, Compressor: image.Gzip,
		Entries: append(nonrootEntries(),
			image.Entry{Name: "manager", Mode: 0o755, Source: binary},
			image.Entry{Name: "licenses/LICENSE", Mode: 0o644, Source: filepath.Join(o.Root, "LICENSE")},
		),
		Config: v1.Config{
			User: fmt.Sprintf("%d:%d", Nonroot, Nonroot), Entrypoint: []string{"/manager"}, WorkingDir: "/", Env: []string{searchPath},
			Labels: map[string]string{
				"org.opencontainers.image.title":       "mysql-operator",
				"org.opencontainers.image.description": "Keelson's operator for MySQL on Kubernetes",
				"org.opencontainers.image.licenses":    "Apache-2.0",
				"org.opencontainers.image.source":      "https://github.com/keelson-dev/mysql-operator",
				"org.opencontainers.image.vendor":      "keelson.dev",
				"org.opencontainers.image.version":     o.Version,
			},
		},
	}.Build()
}

// nonrootEntries are the files that a program expects to find about its user, and a place for temporary files.
func nonrootEntries() []image.Entry {
	return []image.Entry{
		{Name: "etc", Mode: fs.ModeDir | 0o755},
		{Name: "etc/passwd", Mode: 0o644, Content: []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")},
		{Name: "etc/group", Mode: 0o644, Content: []byte("root:x:0:\nnonroot:x:65532:\n")},
		{Name: "licenses", Mode: fs.ModeDir | 0o755},
		{Name: "tmp", Mode: fs.ModeDir | fs.ModeSticky | 0o777},
	}
}

// Pause writes the archive of the pause image, for this machine's architecture only.
func Pause(ctx context.Context, root, name, arch, path string) error {
	work, err := os.MkdirTemp("", "pause-image-")
	if err != nil {
		return fmt.Errorf("create work folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	binary := filepath.Join(work, "pause")
	pause := program{dir: filepath.Join(root, "test/devcluster"), pkg: "./cmd/pause", arch: arch}
	if err := pause.build(ctx, binary); err != nil {
		return fmt.Errorf("make pause image: %w", err)
	}
	img, err := image.Image{
		Platform: image.Platform{OS: "linux", Arch: arch}, Work: work, Compressor: image.Gzip,
		Entries: []image.Entry{{Name: "pause", Mode: 0o755, Source: binary}},
		Config:  v1.Config{User: "65535:65535", Entrypoint: []string{"/pause"}},
	}.Build()
	if err != nil {
		return fmt.Errorf("make pause image: %w", err)
	}
	return image.WriteArchive(path, name, img)
}

// MySQL writes the archive of the MySQL test image.
func MySQL(tree mysqlroot.Tree, name, arch, path string) error {
	work, err := os.MkdirTemp("", "mysql-image-")
	if err != nil {
		return fmt.Errorf("create work folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	entries, err := mysqlEntries(tree.Root)
	if err != nil {
		return err
	}
	img, err := image.Image{
		Platform: image.Platform{OS: "linux", Arch: arch}, Work: work, Compressor: image.Zstd, Entries: entries,
		Config: v1.Config{
			Env: []string{searchPath, "MYSQL_VERSION=" + tree.Version}, Entrypoint: []string{"mysqld"},
			Labels: map[string]string{
				"org.opencontainers.image.title":       "MySQL " + tree.Version + " as Debian builds it, for tests",
				"org.opencontainers.image.description": "Not the official image: it carries that name in the development cluster only",
				"org.opencontainers.image.version":     tree.Version,
			},
		},
	}.Build()
	if err != nil {
		return fmt.Errorf("make MySQL image: %w", err)
	}
	return image.WriteArchive(path, name, img)
}

// mysqlEntries are the tree and what Debian's full package would add: the user and the folders it writes to.
func mysqlEntries(root string) ([]image.Entry, error) {
	entries, err := image.Tree(root)
	if err != nil {
		return nil, err
	}
	const uid = 999
	for file, line := range map[string]string{
		"etc/passwd": "mysql:x:999:999:MySQL:/var/lib/mysql:/usr/sbin/nologin\n",
		"etc/group":  "mysql:x:999:\n",
	} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		entries = image.Put(entries, image.Entry{Name: file, Mode: 0o644, Content: append(text, line...)})
	}
	for _, dir := range []string{"var/lib/mysql", "var/lib/mysql-files", "run/mysqld"} {
		// World-writable like the official image's: a platform may choose any user id.
		entries = image.Put(entries, image.Entry{Name: dir, Mode: fs.ModeDir | fs.ModeSticky | 0o777, UID: uid, GID: uid})
	}
	return entries, nil
}

// program is a program of a module to build for an image.
type program struct {
	dir     string
	pkg     string
	arch    string
	ldflags string
}

func (p program) build(ctx context.Context, out string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", strings.TrimSpace("-s -w -buildid= "+p.ldflags), "-o", out, p.pkg)
	cmd.Dir = p.dir
	// Without stamping: a commit that does not change the program must not change the image.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+p.arch, "GOWORK=off", "GOFLAGS=-mod=readonly -buildvcs=false")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", p.pkg, err, text)
	}
	return nil
}
