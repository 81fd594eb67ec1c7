// SPDX-License-Identifier: Apache-2.0

package mysqlroot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/command"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/filelock"
)

// Series is the only MySQL series that Debian's tree may hold. Samples and tests are written for it.
const Series = "9.7"

// suite is the only suite of Debian that has MySQL.
const suite = "sid"

// ErrSeries means that Debian moved on to another series of MySQL than the one the project is tested with.
var ErrSeries = errors.New("debian serves another MySQL series")

// Tree is an unpacked MySQL and the version it really holds.
type Tree struct {
	Version string // for example 9.7.4
	Root    string // the Debian tree
	Bin     string // wrapper scripts for the host
}

// Source says where to build a tree from.
type Source struct {
	Cache      string    // folder of the cache
	AptSources string    // folder of apt's configuration, usually /etc/apt
	Progress   io.Writer // one line per step
}

// Ensure returns the newest tree of the series in the cache and makes it when there is none. Two callers at once wait
// for each other rather than building twice.
func (s Source) Ensure(ctx context.Context) (Tree, error) {
	base := filepath.Join(s.Cache, "mysql")
	if err := os.MkdirAll(base, 0o755); err != nil {
		return Tree{}, fmt.Errorf("create cache: %w", err)
	}
	unlock, err := filelock.Take(filepath.Join(base, ".lock"))
	if err != nil {
		return Tree{}, err
	}
	defer unlock()
	if t, ok := newest(base); ok {
		return t, writeWrappers(t)
	}
	return s.build(ctx, base)
}

func (s Source) build(ctx context.Context, base string) (Tree, error) {
	mirror, err := Mirror(s.AptSources)
	if err != nil {
		return Tree{}, err
	}
	work := filepath.Join(base, "building")
	if err := os.RemoveAll(work); err != nil {
		return Tree{}, fmt.Errorf("remove half-built tree: %w", err)
	}
	_, _ = fmt.Fprintln(s.Progress, "making the MySQL tree from Debian "+suite+" (about 90 s, once)")
	if err := command.Run(ctx, "debootstrap", "--variant=minbase", "--include=mysql-server-core,mysql-client-core", suite, work, mirror); err != nil {
		return Tree{}, fmt.Errorf("make MySQL tree: %w", err)
	}
	version, err := installedVersion(work)
	if err != nil {
		return Tree{}, err
	}
	if !strings.HasPrefix(version, Series+".") {
		return Tree{}, fmt.Errorf("%w: it has %s, the tests are written for %s; pin the tree of an older machine or move the series in mysqlroot.Series",
			ErrSeries, version, Series)
	}
	if err := strip(work); err != nil {
		return Tree{}, err
	}
	t := at(base, version)
	if err := os.MkdirAll(filepath.Dir(t.Root), 0o755); err != nil {
		return Tree{}, fmt.Errorf("create cache: %w", err)
	}
	if err := os.Rename(work, t.Root); err != nil {
		return Tree{}, fmt.Errorf("keep MySQL tree: %w", err)
	}
	return t, writeWrappers(t)
}

func at(base, version string) Tree {
	dir := filepath.Join(base, version)
	return Tree{Version: version, Root: filepath.Join(dir, "root"), Bin: filepath.Join(dir, "mysql-bin")}
}

func newest(base string) (Tree, bool) {
	dirs, _ := filepath.Glob(filepath.Join(base, Series+".*", "root"))
	if len(dirs) == 0 {
		return Tree{}, false
	}
	patch := func(dir string) int {
		v := filepath.Base(filepath.Dir(dir))
		n, _ := strconv.Atoi(strings.TrimPrefix(v, Series+"."))
		return n
	}
	best := slices.MaxFunc(dirs, func(a, b string) int { return patch(a) - patch(b) })
	return at(base, filepath.Base(filepath.Dir(best))), true
}

// installedVersion reads the upstream version of the server from the tree's own package list: 9.7.4-2 gives 9.7.4.
func installedVersion(root string) (string, error) {
	f, err := os.Open(filepath.Join(root, "var/lib/dpkg/status"))
	if err != nil {
		return "", fmt.Errorf("read package list: %w", err)
	}
	defer func() { _ = f.Close() }()
	version, err := versionOf(f, "mysql-server-core")
	if err != nil {
		return "", fmt.Errorf("read version of MySQL: %w", err)
	}
	return version, nil
}

func versionOf(status io.Reader, name string) (string, error) {
	in := false
	lines := bufio.NewScanner(status)
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case key == "Package":
			in = value == name
		case in && key == "Version":
			if _, after, ok := strings.Cut(value, ":"); ok {
				value = after
			}
			upstream, _, _ := strings.Cut(value, "-")
			upstream, _, _ = strings.Cut(upstream, "+")
			return upstream, nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", err
	}
	return "", fmt.Errorf("package %s is not installed", name)
}

// strip removes what neither the image nor a test uses: half of the size. Licences (doc/*/copyright) stay.
func strip(root string) error {
	paths := []string{
		"usr/share/man", "usr/share/locale", "usr/share/info", "usr/share/i18n", "usr/share/lintian", "var/cache/apt",
		"var/lib/apt/lists", "usr/sbin/mysqld-debug", "usr/lib/mysql/plugin/debug", "usr/share/perl", "usr/share/perl5",
		"usr/lib/" + triplet + "/perl", "usr/lib/" + triplet + "/perl-base", "usr/lib/" + triplet + "/gconv",
	}
	docs, _ := filepath.Glob(filepath.Join(root, "usr/share/doc/*/*"))
	for _, doc := range docs {
		if filepath.Base(doc) != "copyright" {
			paths = append(paths, strings.TrimPrefix(doc, root))
		}
	}
	for _, path := range paths {
		if err := os.RemoveAll(filepath.Join(root, path)); err != nil {
			return fmt.Errorf("strip tree: %w", err)
		}
	}
	return nil
}
