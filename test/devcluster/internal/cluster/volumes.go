// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/host"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/layout"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/volume"
)

const (
	// fiFreeze and fiThaw are FIFREEZE and FITHAW of linux/fs.h: _IOWR('X', 119, int) and _IOWR('X', 120, int).
	fiFreeze = 0xC0045877
	fiThaw   = 0xC0045878
	// ballast is the file that fills a volume up.
	ballast = ".keelson-ballast"
)

// ErrVolume means that a volume cannot be used in the way that was asked for.
var ErrVolume = errors.New("volume cannot be used")

// Mounted is a loop volume that is in use.
type Mounted struct {
	volume.Volume

	Path string // where the host reaches the file system, through the node's first process
}

// Usage says how large and how full a volume is.
type Usage struct {
	Volume volume.Volume
	Disk   int64 // size of the disk
	Total  int64 // size of the file system
	Free   int64
}

// MountedVolume finds the volume of a claim (NAMESPACE/NAME or NAME) that is in use on a living node.
func (m *Manager) MountedVolume(ctx context.Context, claim string) (Mounted, error) {
	c, err := m.Find()
	if err != nil {
		return Mounted{}, err
	}
	id, err := m.volumeOf(ctx, c, claim)
	if err != nil {
		return Mounted{}, err
	}
	v, err := volume.Store{Dir: c.Volumes()}.Get(id)
	if err != nil {
		return Mounted{}, err
	}
	if v.Backend != volume.Loop {
		return Mounted{}, fmt.Errorf("%w: %s has no size of its own: use StorageClass keelson-loop", ErrVolume, claim)
	}
	r, ok := running(c, v.Node)
	if !ok {
		return Mounted{}, fmt.Errorf("%w: its node %s is dead", ErrVolume, v.Node)
	}
	path, err := mountPath(c, v, r.PID)
	if err != nil {
		return Mounted{}, err
	}
	return Mounted{Volume: v, Path: path}, nil
}

func (m *Manager) volumeOf(ctx context.Context, c layout.Cluster, claim string) (string, error) {
	namespace, name, ok := strings.Cut(claim, "/")
	if !ok {
		namespace, name = "default", claim
	}
	pv, err := m.kubectl(ctx, c, "", "get", "pvc", "-n", namespace, name, "-o", "jsonpath={.spec.volumeName}")
	if err != nil {
		return "", err
	}
	if pv == "" {
		return "", fmt.Errorf("%w: claim %s is not bound", ErrVolume, claim)
	}
	return m.kubectl(ctx, c, "", "get", "pv", pv, "-o", "jsonpath={.spec.csi.volumeHandle}")
}

// mountPath finds the file system of a volume in the mounts of the node's first process.
func mountPath(c layout.Cluster, v volume.Volume, pid int) (string, error) {
	loops, err := host.Loops(filepath.Join(c.Volumes(), v.ID))
	if err != nil {
		return "", err
	}
	for _, loop := range loops {
		if target := findMount(pid, loop.Device); target != "" {
			return filepath.Join("/proc", strconv.Itoa(pid), "root", target), nil
		}
	}
	return "", fmt.Errorf("%w: no pod uses it now", ErrVolume)
}

func findMount(pid int, device string) string {
	f, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "mounts"))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && fields[0] == device {
			return fields[1]
		}
	}
	return ""
}

// Fill fills the volume up to the last block but for leave bytes.
func (v Mounted) Fill(leave int64) error {
	f, err := os.OpenFile(filepath.Join(v.Path, ballast), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("create ballast: %w", err)
	}
	defer func() { _ = f.Close() }()
	size, err := f.Seek(0, 2)
	if err != nil {
		return fmt.Errorf("measure ballast: %w", err)
	}
	usage, err := v.Usage()
	if err != nil {
		return err
	}
	// Halving steps, because the file system needs some blocks for its own lists and says so only by being full.
	for step := usage.Free - leave; step >= 4096; {
		err := unix.Fallocate(int(f.Fd()), 0, size, step)
		switch {
		case errors.Is(err, unix.ENOSPC):
			step /= 2
		case err != nil:
			return fmt.Errorf("fill volume: %w", err)
		default:
			size += step
			if usage, err = v.Usage(); err != nil {
				return err
			}
			step = min(step, usage.Free-leave)
		}
	}
	return nil
}

// Empty removes what Fill put in.
func (v Mounted) Empty() error {
	if err := os.Remove(filepath.Join(v.Path, ballast)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove ballast: %w", err)
	}
	return nil
}

// Freeze makes every write to the volume wait, as a stalled disk does.
func (v Mounted) Freeze() error { return v.control(fiFreeze) }

// Thaw ends Freeze; thawing what is not frozen is fine.
func (v Mounted) Thaw() error {
	if err := v.control(fiThaw); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}

func (v Mounted) control(request uint) error {
	f, err := os.Open(v.Path)
	if err != nil {
		return fmt.Errorf("open volume: %w", err)
	}
	defer func() { _ = f.Close() }()
	if err := unix.IoctlSetInt(int(f.Fd()), request, 0); err != nil {
		return fmt.Errorf("control file system: %w", err)
	}
	return nil
}

// Usage measures the volume.
func (v Mounted) Usage() (Usage, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(v.Path, &s); err != nil {
		return Usage{}, fmt.Errorf("read size of file system: %w", err)
	}
	return Usage{Volume: v.Volume, Disk: v.Size, Total: int64(s.Blocks) * s.Bsize, Free: int64(s.Bavail) * s.Bsize}, nil
}

// openVolumes are file systems that are held open while their node dies.
type openVolumes []*os.File

// openFrozen opens every volume that is mounted in a machine; opening does not wait for a frozen one.
func openFrozen(c layout.Cluster, pid int) openVolumes {
	loops, err := host.Loops(c.Volumes())
	if err != nil {
		return nil
	}
	var open openVolumes
	for _, loop := range loops {
		target := findMount(pid, loop.Device)
		if target == "" {
			continue
		}
		if f, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "root", target)); err == nil {
			open = append(open, f)
		}
	}
	return open
}

func (o openVolumes) thaw() {
	for _, f := range o {
		_ = unix.IoctlSetInt(int(f.Fd()), fiThaw, 0) // EINVAL: it was not frozen.
	}
}

// close lets go of the file systems, so that the kernel can unmount them.
func (o openVolumes) close() {
	for _, f := range o {
		_ = f.Close()
	}
}
