// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Entry is one file, folder or link of a layer.
type Entry struct {
	Name    string // path in the image, without a leading slash
	Mode    fs.FileMode
	UID     int
	GID     int
	Content []byte // of a small file
	Source  string // or the file on the host to take the content from
	Link    string // target of a symbolic link
}

// epoch is the time of every file in every image: real times would make equal images differ.
func epoch() time.Time { return time.Unix(0, 0).UTC() }

// writeLayer writes entries as a tar, sorted by name.
func writeLayer(w io.Writer, entries []Entry) error {
	entries = slices.SortedFunc(slices.Values(entries), func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	archive := tar.NewWriter(w)
	for _, e := range entries {
		if err := writeEntry(archive, e); err != nil {
			return fmt.Errorf("write %s: %w", e.Name, err)
		}
	}
	return archive.Close()
}

func writeEntry(archive *tar.Writer, e Entry) error {
	h := &tar.Header{Name: e.Name, Mode: unixMode(e.Mode), Uid: e.UID, Gid: e.GID, ModTime: epoch(), Format: tar.FormatPAX}
	switch {
	case e.Mode.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, e.Name+"/"
		return archive.WriteHeader(h)
	case e.Link != "":
		h.Typeflag, h.Linkname = tar.TypeSymlink, e.Link
		return archive.WriteHeader(h)
	case e.Source == "":
		h.Typeflag, h.Size = tar.TypeReg, int64(len(e.Content))
		if err := archive.WriteHeader(h); err != nil {
			return err
		}
		_, err := archive.Write(e.Content)
		return err
	}
	f, err := os.Open(e.Source)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h.Typeflag, h.Size = tar.TypeReg, info.Size()
	if err := archive.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(archive, f)
	return err
}

func unixMode(mode fs.FileMode) int64 {
	bits := int64(mode.Perm())
	for flag, bit := range map[fs.FileMode]int64{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if mode&flag != 0 {
			bits |= bit
		}
	}
	return bits
}

// Tree lists a folder of the host as entries; devices and sockets are left out. Owners are kept.
func Tree(root string) ([]Entry, error) {
	var entries []Entry
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == root {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		e := Entry{Name: filepath.ToSlash(strings.TrimPrefix(file, root+"/")), Mode: info.Mode()}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			e.UID, e.GID = int(stat.Uid), int(stat.Gid)
		}
		switch {
		case info.Mode().IsDir():
		case info.Mode().IsRegular():
			e.Source = file
		case info.Mode()&fs.ModeSymlink != 0:
			if e.Link, err = os.Readlink(file); err != nil {
				return err
			}
		default:
			return nil
		}
		entries = append(entries, e)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", root, err)
	}
	return entries, nil
}

// Put adds entries to others and replaces those of the same name.
func Put(entries []Entry, more ...Entry) []Entry {
	for _, e := range more {
		e.Name = path.Clean(e.Name)
		i := slices.IndexFunc(entries, func(old Entry) bool { return old.Name == e.Name })
		if i >= 0 {
			entries[i] = e
			continue
		}
		entries = append(entries, e)
	}
	return entries
}
