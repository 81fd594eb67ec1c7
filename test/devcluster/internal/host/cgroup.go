// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Cgroups is the machine's cgroup file system, usually /sys/fs/cgroup.
type Cgroups struct {
	Mount string
}

// unified tells cgroup v2 from v1.
func (g Cgroups) unified() bool {
	_, err := os.Stat(filepath.Join(g.Mount, "cgroup.controllers"))
	return err == nil
}

// hierarchies are the mount points of all controllers; cgroup v2 has one for all.
func (g Cgroups) hierarchies() ([]string, error) {
	if g.unified() {
		return []string{g.Mount}, nil
	}
	entries, err := os.ReadDir(g.Mount)
	if err != nil {
		return nil, fmt.Errorf("list cgroup controllers: %w", err)
	}
	var dirs []string
	for _, entry := range entries {
		dir := filepath.Join(g.Mount, entry.Name())
		// Links (cpu → cpu,cpuacct) would name a hierarchy twice. The v2 tree beside v1 controls nothing, but runc makes
		// cgroups in it all the same.
		if entry.IsDir() {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// Create makes the cgroup in every hierarchy, ready for a kubelet to make cgroups of pods in it.
func (g Cgroups) Create(path string) error {
	dirs, err := g.hierarchies()
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := g.createIn(dir, path); err != nil {
			return err
		}
	}
	return nil
}

func (g Cgroups) createIn(hierarchy, path string) error {
	current := hierarchy
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		parent := current
		current = filepath.Join(current, part)
		if err := os.Mkdir(current, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("create cgroup: %w", err)
		}
		if g.unified() {
			if err := delegate(parent); err != nil {
				return err
			}
			continue
		}
		// A new cpuset is empty, and no process may join an empty one.
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			if err := inherit(parent, current, file); err != nil {
				return err
			}
		}
	}
	if g.unified() {
		return delegate(current)
	}
	return nil
}

func delegate(dir string) error {
	controllers, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return fmt.Errorf("read cgroup controllers: %w", err)
	}
	for name := range strings.FieldsSeq(string(controllers)) {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+name), 0); err != nil {
			return fmt.Errorf("delegate cgroup controller %s: %w", name, err)
		}
	}
	return nil
}

func inherit(parent, child, file string) error {
	value, err := os.ReadFile(filepath.Join(parent, file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // Not the cpuset hierarchy.
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	if err := os.WriteFile(filepath.Join(child, file), value, 0); err != nil {
		return fmt.Errorf("set %s: %w", file, err)
	}
	return nil
}

// Remove removes the cgroup and all below it from every hierarchy. Processes that were killed leave their cgroup a
// moment later than they die, so it tries for a while.
func (g Cgroups) Remove(path string, patience time.Duration) error {
	dirs, err := g.hierarchies()
	if err != nil {
		return err
	}
	deadline := time.Now().Add(patience)
	for _, hierarchy := range dirs {
		for {
			err := removeTree(filepath.Join(hierarchy, path))
			if err == nil {
				break
			}
			if !errors.Is(err, syscall.EBUSY) || time.Now().After(deadline) {
				return fmt.Errorf("remove cgroup: %w", err)
			}
			time.Sleep(pause)
		}
	}
	return nil
}

// pause is how long to wait between two looks at something that the kernel finishes in its own time.
const pause = 50 * time.Millisecond

// removeTree removes folders only, deepest first: the files of a cgroup cannot be removed and need not be.
func removeTree(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			if err := removeTree(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	if err := syscall.Rmdir(dir); err != nil && !errors.Is(err, syscall.ENOENT) {
		return err
	}
	return nil
}
