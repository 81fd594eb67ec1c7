// SPDX-License-Identifier: Apache-2.0

package binlog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
)

var (
	// ErrEncrypted tells that the file is encrypted (binlog_encryption) and cannot be read without the server.
	ErrEncrypted = errors.New("binlog file is encrypted")
	// ErrDamaged tells that the file is not what its name says, or is broken elsewhere than at the end of the last one.
	ErrDamaged = errors.New("binlog file is damaged")
)

// Result is what a series of files holds.
type Result struct {
	// Files are the names read, oldest first.
	Files []string
	// Previous is Previous_gtids of the oldest file.
	Previous gtid.Set
	// Found are the GTIDs of all complete transactions.
	Found gtid.Set
	// Substantial are those of Found that stand for a change which a restart must not lose: rows, XA, DDL. The others
	// are empty transactions and ANALYZE and its like, whose effect does not depend on the binlog (A2).
	Substantial gtid.Set
	// Truncated tells that the last file ends inside an event or a transaction.
	Truncated bool
}

// All returns everything the files speak of.
func (r Result) All() gtid.Set { return r.Previous.Union(r.Found) }

// Scan reads the binlog files that the index file names, oldest first. No index file: an empty result.
func Scan(index string) (Result, error) { return series{}.scan(index) }

// ScanFrom is Scan without the files before the one of that name, if the index names it.
func ScanFrom(index, first string) (Result, error) { return series{first: first}.scan(index) }

// ScanRelay reads relay-log files. Any of them may end early: a server that was killed begins a new file, and receives
// the transaction anew that it had received in part.
func ScanRelay(index string) (Result, error) { return series{torn: true}.scan(index) }

// series is a kind of files.
type series struct {
	torn  bool   // any file may end early
	first string // where to begin; empty, or not in the index: at the beginning
}

func (k series) scan(index string) (Result, error) {
	files, err := readIndex(index)
	if err != nil {
		return Result{}, err
	}
	if i := slices.IndexFunc(files, func(path string) bool { return filepath.Base(path) == k.first }); i > 0 {
		files = files[i:]
	}
	var r Result
	found, substantial := newCollector(), newCollector()
	for i, path := range files {
		f := fileScan{found: found, substantial: substantial}
		if err := f.scan(path); err != nil {
			return Result{}, fmt.Errorf("scan %s: %w", filepath.Base(path), err)
		}
		last := i == len(files)-1
		if f.truncated && !last && !k.torn {
			return Result{}, fmt.Errorf("scan %s: %w: it ends early and is not the last", filepath.Base(path), ErrDamaged)
		}
		if i == 0 {
			r.Previous = f.previous
		}
		r.Truncated = f.truncated
		r.Files = append(r.Files, filepath.Base(path))
	}
	if r.Found, err = found.set(); err != nil {
		return Result{}, err
	}
	r.Substantial, err = substantial.set()
	return r, err
}

// readIndex returns the paths of the files; those that a purge has removed already, but not yet from the index, are
// left out: they are always the oldest.
func readIndex(index string) ([]string, error) {
	f, err := os.Open(index) //nolint:gosec // a file of our own datadir
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open binlog index: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	var paths []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name := strings.TrimSpace(lines.Text())
		if name == "" {
			continue
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(index), name)
		}
		_, err := os.Stat(name)
		if errors.Is(err, os.ErrNotExist) && len(paths) == 0 {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("find binlog file: %w", err)
		}
		paths = append(paths, name)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read binlog index: %w", err)
	}
	return paths, nil
}

// reader walks a file; short skips go through the buffer, long ones seek.
type reader struct {
	file *os.File
	buf  *bufio.Reader
	left int64 // bytes of the file after the current position
}

const bufferSize = 1 << 20

func newReader(f *os.File) (*reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &reader{file: f, buf: bufio.NewReaderSize(f, bufferSize), left: info.Size()}, nil
}

func (r *reader) read(n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(r.buf, b)
	r.left -= int64(n)
	return b, err
}

func (r *reader) skip(n int64) error {
	r.left -= n
	if n <= int64(r.buf.Buffered())+bufferSize {
		_, err := r.buf.Discard(int(n))
		return err
	}
	if _, err := r.file.Seek(n-int64(r.buf.Buffered()), io.SeekCurrent); err != nil {
		return err
	}
	r.buf.Reset(r.file)
	return nil
}
