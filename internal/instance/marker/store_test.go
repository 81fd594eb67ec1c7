// SPDX-License-Identifier: Apache-2.0

package marker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/keelson-dev/mysql-operator/internal/wire"
)

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatalf("Open() = %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func put(t *testing.T, s *Store, epoch int64) {
	t.Helper()
	err := s.Update(func(r Record) (Record, error) {
		return r.WithRole(&wire.RoleOrder{
			Order: header("u", epoch, 0, "db-0"), Role: wire.Role_ROLE_PRIMARY,
			Members: []*wire.Member{{Name: "db-0", Incarnation: "i", Password: "secret"}},
		}), nil
	})
	if err != nil {
		t.Fatalf("Update() = %v", err)
	}
}

func TestStoreKeepsTheLastRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keelson", "marker")
	s := open(t, path)
	if _, found := s.Get(); found {
		t.Fatal("a new store has a record")
	}
	for epoch := int64(1); epoch <= 5; epoch++ {
		put(t, s, epoch)
	}
	want, _ := s.Get()
	got, found := open(t, path).Get()
	if !found || got.Order.Epoch != 5 {
		t.Fatalf("reopened store: found %v, epoch %d", found, got.Order.Epoch)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reopened record mismatch (-want +got):\n%s", diff)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) != slots*slotSize {
		t.Errorf("the file has %d bytes: it grew", len(raw))
	}
}

func TestTornWriteLeavesTheRecordBefore(t *testing.T) {
	for _, writes := range []int64{2, 3, 4} {
		for _, cut := range []int{1, headerSize, headerSize + 10} {
			t.Run(fmt.Sprintf("write %d torn at byte %d", writes, cut), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "marker")
				s := open(t, path)
				for e := int64(1); e <= writes; e++ {
					put(t, s, e)
				}
				tear(t, path, s.slot, cut)
				got, found := open(t, path).Get()
				if !found || got.Order.Epoch != writes-1 {
					t.Errorf("found %v, epoch %d, want %d", found, got.Order.Epoch, writes-1)
				}
			})
		}
	}
}

// tear overwrites what follows byte cut of the slot, as if the write had ended there.
func tear(t *testing.T, path string, slot, cut int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 100), int64(slot)*slotSize+int64(cut)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTornFirstWriteIsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "marker")
	s := open(t, path)
	put(t, s, 1)
	tear(t, path, 0, headerSize)
	again := open(t, path)
	if _, found := again.Get(); found {
		t.Error("a torn first write was found")
	}
	put(t, again, 2)
	if r, found := open(t, path).Get(); !found || r.Order.Epoch != 2 {
		t.Errorf("after the next write: found %v, epoch %d", found, r.Order.Epoch)
	}
}

func TestBothSlotsDamagedIsSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "marker")
	s := open(t, path)
	put(t, s, 1)
	put(t, s, 2)
	tear(t, path, 0, headerSize)
	tear(t, path, 1, headerSize)
	if _, err := Open(path); !errors.Is(err, ErrDamaged) {
		t.Errorf("Open() = %v, want ErrDamaged", err)
	}
}

func TestUpdateOnAFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("this test must run as root: it mounts a small file system that can be filled")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Fatalf("mount tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	s := open(t, filepath.Join(dir, "keelson", "marker"))
	filler, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = filler.Write(make([]byte, 4096))
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("filling the disk ended with %v", err)
	}
	for epoch := int64(1); epoch <= 4; epoch++ {
		put(t, s, epoch)
	}
	if err := errors.Join(filler.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestPasswordsAreNotStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "marker")
	put(t, open(t, path), 1)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if i := indexOf(raw, "secret"); i >= 0 {
		t.Errorf("a password is at byte %d of the marker", i)
	}
}

func indexOf(raw []byte, text string) int {
	for i := range len(raw) - len(text) {
		if string(raw[i:i+len(text)]) == text {
			return i
		}
	}
	return -1
}
