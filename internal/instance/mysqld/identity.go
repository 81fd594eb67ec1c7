// SPDX-License-Identifier: Apache-2.0

package mysqld

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/keelson-dev/mysql-operator/internal/instance/marker"
)

// Identity is who a server is to others: an incarnation of a datadir, and how often that changed its server_uuid.
type Identity struct {
	Incarnation string
	UUIDs       uint32
}

// incarnationBytes is 24 hexadecimal digits, what a server_uuid holds beside the counter.
const incarnationBytes = 12

// NewIncarnation makes the random id of a new datadir.
func NewIncarnation() string {
	b := make([]byte, incarnationBytes)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// UUID returns the server_uuid: the incarnation, then the counter, so that the incarnation can be told from a GTID (F6).
func (i Identity) UUID() string {
	s := i.Incarnation + fmt.Sprintf("%08x", i.UUIDs)
	if len(s) != 2*incarnationBytes+8 {
		return "" // not one of ours; mysqld refuses it
	}
	return strings.Join([]string{s[:8], s[8:12], s[12:16], s[16:20], s[20:]}, "-")
}

// ServerID returns the server_id, which changes together with the UUID: a receiver drops events with its own, and
// acknowledgements are kept by it (F6, C13).
func (i Identity) ServerID() uint32 {
	if id := crc32.ChecksumIEEE([]byte(i.UUID())); id > 0 {
		return id
	}
	return 1
}

// WriteAuto gives the datadir that identity before its server starts.
func WriteAuto(datadir string, id Identity) error {
	path := filepath.Join(datadir, "auto.cnf")
	content := "[auto]\nserver-uuid=" + id.UUID() + "\n"
	if old, err := os.ReadFile(path); err == nil && string(old) == content { //nolint:gosec // the pod's own layout
		return nil
	}
	if err := writeSynced(path, content); err != nil {
		return fmt.Errorf("write auto.cnf: %w", err)
	}
	return nil
}

func writeSynced(path, content string) error {
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode) //nolint:gosec // the pod's own layout
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return marker.SyncDir(filepath.Dir(path))
}

// SyncVolume makes everything on the volume that holds path durable.
func SyncVolume(path string) error {
	f, err := os.Open(path) //nolint:gosec // the pod's own layout
	if err != nil {
		return fmt.Errorf("open volume: %w", err)
	}
	if err := errors.Join(unix.Syncfs(int(f.Fd())), f.Close()); err != nil {
		return fmt.Errorf("sync volume: %w", err)
	}
	return nil
}
