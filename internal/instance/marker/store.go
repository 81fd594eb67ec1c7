// SPDX-License-Identifier: Apache-2.0

package marker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	// slotSize leaves room for a base set of some 5,000 UUIDs (41 bytes each); F13 warns at 500.
	slotSize   = 256 << 10
	slots      = 2
	headerSize = 24
	magic      = "KEELSON1"
	tempName   = ".new"
	dirMode    = 0o750
	fileMode   = 0o640
)

// ErrDamaged tells that the file is there, and neither slot can be read. Nothing may be concluded from it.
var ErrDamaged = errors.New("marker is damaged")

// Store is the marker file of one instance. It is safe for concurrent use.
type Store struct {
	mu     sync.Mutex
	file   *os.File
	record Record
	found  bool
	seq    uint64
	slot   int // the slot that holds record
}

// Open opens the marker file at path, and makes an empty one at its full size if there is none.
// The error wraps ErrDamaged if what is stored cannot be read.
func Open(path string) (*Store, error) {
	if err := ensureFile(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, fileMode) //nolint:gosec // the path is the pod's own layout
	if err != nil {
		return nil, fmt.Errorf("open marker: %w", err)
	}
	s := &Store{file: f, slot: slots - 1}
	if err := s.load(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

// Get returns what is stored; found is false while nothing ever was.
func (s *Store) Get() (r Record, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record.Clone(), s.found
}

// Update changes the record and returns once the change is on the disk. change gets a copy of what is stored and
// returns what is to be stored, or an error, which is returned as it is. If writing fails nothing is changed for
// the readers of this process, but the change may be found at the next start.
func (s *Store) Update(change func(Record) (Record, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next, err := change(s.record.Clone())
	if err != nil {
		return err
	}
	if err := s.write(next); err != nil {
		return fmt.Errorf("store marker: %w", err)
	}
	return nil
}

// Close closes the file.
func (s *Store) Close() error { return s.file.Close() }

func (s *Store) write(r Record) error {
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if len(body) > slotSize-headerSize {
		return fmt.Errorf("record of %d bytes does not fit its slot", len(body))
	}
	slot, seq := (s.slot+1)%slots, s.seq+1
	buf := make([]byte, headerSize, headerSize+len(body))
	copy(buf, magic)
	binary.LittleEndian.PutUint64(buf[8:], seq)
	binary.LittleEndian.PutUint32(buf[16:], uint32(len(body))) //nolint:gosec // bounded by slotSize above
	buf = append(buf, body...)
	binary.LittleEndian.PutUint32(buf[20:], checksum(buf))
	if _, err := s.file.WriteAt(buf, int64(slot)*slotSize); err != nil {
		return err
	}
	if err := unix.Fdatasync(int(s.file.Fd())); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	s.record, s.found, s.seq, s.slot = r, true, seq, slot
	return nil
}

// checksum covers all but itself.
func checksum(slot []byte) uint32 {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(slot[:20], castagnoli), castagnoli, slot[headerSize:])
}

func (s *Store) load() error {
	var written [slots]bool
	for slot := range slots {
		buf := make([]byte, slotSize)
		if _, err := s.file.ReadAt(buf, int64(slot)*slotSize); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read marker: %w", err)
		}
		written[slot] = [headerSize]byte(buf[:headerSize]) != [headerSize]byte{}
		seq, r, ok := decode(buf)
		if ok && (!s.found || seq > s.seq) {
			s.record, s.found, s.seq, s.slot = r, true, seq, slot
		}
	}
	// The first write ever goes to slot 0. If that alone is there and torn, nothing was ever stored, and its writer
	// never heard that it was. In every other case the slot before the torn one is good, or the file is damaged.
	if !s.found && written[1] {
		return ErrDamaged
	}
	return nil
}

func decode(buf []byte) (seq uint64, r Record, ok bool) {
	if string(buf[:8]) != magic {
		return 0, Record{}, false
	}
	length := int(binary.LittleEndian.Uint32(buf[16:]))
	if length > slotSize-headerSize {
		return 0, Record{}, false
	}
	buf = buf[:headerSize+length]
	if binary.LittleEndian.Uint32(buf[20:]) != checksum(buf) {
		return 0, Record{}, false
	}
	if err := json.Unmarshal(buf[headerSize:], &r); err != nil {
		return 0, Record{}, false
	}
	return binary.LittleEndian.Uint64(buf[8:]), r, true
}

// ensureFile makes the file under another name and renames it, so that a file of the right name is complete.
// It is filled with written zeros: unwritten extents would need new metadata blocks at the first overwrite.
func ensureFile(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("find marker: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return fmt.Errorf("make marker folder: %w", err)
	}
	if err := writeSynced(path+tempName, make([]byte, slots*slotSize)); err != nil {
		return fmt.Errorf("make marker: %w", err)
	}
	if err := os.Rename(path+tempName, path); err != nil {
		return fmt.Errorf("name marker: %w", err)
	}
	for _, dir := range []string{filepath.Dir(path), filepath.Dir(filepath.Dir(path))} {
		if err := SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode) //nolint:gosec // the pod's own layout
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return errors.Join(err, f.Close())
	}
	return errors.Join(f.Sync(), f.Close())
}

// SyncDir makes names in the folder durable.
func SyncDir(dir string) error {
	f, err := os.Open(dir) //nolint:gosec // the path is the pod's own layout
	if err != nil {
		return fmt.Errorf("open folder to sync: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	return nil
}
