// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/command"
)

// Backend is what holds a volume's content.
type Backend string

// The backends, as the StorageClass parameter "backend" names them.
const (
	Loop      Backend = "loop"
	Directory Backend = "directory"
)

// Filesystem is the file system of a loop volume.
type Filesystem string

// XFS grows while it is mounted wherever it can be mounted at all. ext4 asks for CAP_SYS_RESOURCE to do so, which many
// virtual machines and containers lack; there a claim that grows never gets its space.
const (
	XFS  Filesystem = "xfs"
	Ext4 Filesystem = "ext4"
)

// Volume describes one volume.
type Volume struct {
	ID         string     `json:"id"`
	Node       string     `json:"node"` // the only node that may use it
	Backend    Backend    `json:"backend"`
	Filesystem Filesystem `json:"filesystem,omitempty"`
	Size       int64      `json:"size"`
}

var (
	// ErrNotFound means that there is no such volume.
	ErrNotFound = errors.New("no such volume")
	// ErrConflict means that a volume of this name exists and is another one.
	ErrConflict = errors.New("volume exists with other properties")
	// ErrName means that a name cannot be a folder's.
	ErrName = errors.New("invalid volume name")
)

var validID = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,127}$`)

// Store is the folder with all volumes.
type Store struct {
	Dir string
}

// Image is the disk image of a loop volume.
func (s Store) Image(id string) string { return filepath.Join(s.Dir, id, "disk.img") }

// Folder is the content of a directory volume.
func (s Store) Folder(id string) string { return filepath.Join(s.Dir, id, "data") }

func (s Store) description(id string) string { return filepath.Join(s.Dir, id, "volume.json") }

// Get returns the description of a volume.
func (s Store) Get(id string) (Volume, error) {
	if !validID.MatchString(id) {
		return Volume{}, fmt.Errorf("%w: %q", ErrName, id)
	}
	text, err := os.ReadFile(s.description(id))
	if errors.Is(err, fs.ErrNotExist) {
		return Volume{}, fmt.Errorf("%w: %s", ErrNotFound, id)
	}
	if err != nil {
		return Volume{}, fmt.Errorf("read volume: %w", err)
	}
	var v Volume
	if err := json.Unmarshal(text, &v); err != nil {
		return Volume{}, fmt.Errorf("parse volume %s: %w", id, err)
	}
	return v, nil
}

// Create makes a volume. Making the same one twice is fine; it appears under its name only when it is complete.
func (s Store) Create(ctx context.Context, want Volume) (Volume, error) {
	have, err := s.Get(want.ID)
	if err == nil {
		if have.Node != want.Node || have.Backend != want.Backend || have.Filesystem != want.Filesystem || have.Size < want.Size {
			return Volume{}, fmt.Errorf("%w: %s", ErrConflict, want.ID)
		}
		return have, nil
	}
	if !errors.Is(err, ErrNotFound) {
		return Volume{}, err
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return Volume{}, fmt.Errorf("create folder of volumes: %w", err)
	}
	work, err := os.MkdirTemp(s.Dir, ".new-")
	if err != nil {
		return Volume{}, fmt.Errorf("create volume: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	half := Store{Dir: filepath.Dir(work)}
	if err := half.fill(ctx, filepath.Base(work), want); err != nil {
		return Volume{}, fmt.Errorf("create volume %s: %w", want.ID, err)
	}
	if err := os.Rename(work, filepath.Join(s.Dir, want.ID)); err != nil {
		return Volume{}, fmt.Errorf("keep volume: %w", err)
	}
	return want, nil
}

// fill makes the content of the volume in the folder called at.
func (s Store) fill(ctx context.Context, at string, v Volume) error {
	if err := os.Chmod(filepath.Join(s.Dir, at), 0o755); err != nil {
		return err
	}
	if err := s.describe(at, v); err != nil {
		return err
	}
	if v.Backend == Directory {
		return os.Mkdir(s.Folder(at), 0o755)
	}
	if err := resize(s.Image(at), v.Size); err != nil {
		return err
	}
	return format(ctx, v, s.Image(at))
}

// format makes the file system of a new volume.
func format(ctx context.Context, v Volume, image string) error {
	if v.Filesystem == Ext4 {
		return command.Run(ctx, "mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=1,lazy_journal_init=1", image)
	}
	args := []string{"-q", "-f", "-K", image}
	if v.Size < smallXFS {
		args = append([]string{"--unsupported"}, args...)
	}
	return command.Run(ctx, "mkfs.xfs", args...)
}

// GrowMounted makes the file system as large as the disk, while it is mounted at path from device.
func (v Volume) GrowMounted(ctx context.Context, device, path string) error {
	if err := command.Run(ctx, "losetup", "-c", device); err != nil {
		return fmt.Errorf("make loop device follow its file: %w", err)
	}
	grow := []string{"xfs_growfs", "-d", path}
	if v.Filesystem == Ext4 {
		grow = []string{"resize2fs", device}
	}
	if err := command.Run(ctx, grow[0], grow[1:]...); err != nil {
		return fmt.Errorf("grow file system: %w", err)
	}
	return nil
}

// Grow makes the volume larger; a smaller size changes nothing.
func (s Store) Grow(id string, size int64) (Volume, error) {
	v, err := s.Get(id)
	if err != nil || size <= v.Size {
		return v, err
	}
	if v.Backend == Loop {
		if err := resize(s.Image(id), size); err != nil {
			return Volume{}, fmt.Errorf("grow volume %s: %w", id, err)
		}
	}
	v.Size = size
	return v, s.describe(id, v)
}

// Delete removes a volume; one that is gone already is fine.
func (s Store) Delete(id string) error {
	if !validID.MatchString(id) {
		return fmt.Errorf("%w: %q", ErrName, id)
	}
	if err := os.RemoveAll(filepath.Join(s.Dir, id)); err != nil {
		return fmt.Errorf("delete volume: %w", err)
	}
	return nil
}

func (s Store) describe(at string, v Volume) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode volume: %w", err)
	}
	path := s.description(at)
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return fmt.Errorf("write volume: %w", err)
	}
	return os.Rename(path+".new", path)
}

// resize changes the size of a sparse file: it takes from the host's disk only what is written.
func resize(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}
