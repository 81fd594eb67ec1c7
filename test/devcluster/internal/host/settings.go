// SPDX-License-Identifier: Apache-2.0

package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// kubeletSettings are the kernel settings that a kubelet changes for the whole machine when it starts.
func kubeletSettings() []string {
	return []string{
		"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
		"kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
	}
}

// mountPoints are the ordinary places of a kubelet's files. Every node has its own there; the host needs the folders.
func mountPoints() []string {
	return []string{"/var/lib/kubelet", "/var/log/pods", "/var/log/containers"}
}

// before is how the machine was before the first cluster.
type before struct {
	Settings map[string]string
	Created  []string
}

// Borrow remembers in file how the machine is, unless it is remembered already, and makes the folders that are missing.
func Borrow(file string) error {
	if _, err := os.Stat(file); err == nil {
		return makeMountPoints()
	}
	b := before{Settings: map[string]string{}}
	for _, setting := range kubeletSettings() {
		value, err := os.ReadFile(filepath.Join("/proc/sys", setting))
		if err != nil {
			return fmt.Errorf("read kernel setting: %w", err)
		}
		b.Settings[setting] = string(value)
	}
	for _, dir := range mountPoints() {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			b.Created = append(b.Created, dir)
		}
	}
	text, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("encode state of the machine: %w", err)
	}
	if err := os.WriteFile(file+".new", text, 0o644); err != nil {
		return fmt.Errorf("remember state of the machine: %w", err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("remember state of the machine: %w", err)
	}
	return makeMountPoints()
}

func makeMountPoints() error {
	for _, dir := range mountPoints() {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("create mount point: %w", err)
		}
	}
	return nil
}

// GiveBack puts the machine back to what file remembers. Folders go only when they are ours and empty.
func GiveBack(file string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read state of the machine: %w", err)
	}
	var b before
	if err := json.Unmarshal(text, &b); err != nil {
		return fmt.Errorf("parse state of the machine: %w", err)
	}
	for setting, value := range b.Settings {
		if err := os.WriteFile(filepath.Join("/proc/sys", setting), []byte(value), 0); err != nil {
			return fmt.Errorf("restore kernel setting %s: %w", setting, err)
		}
	}
	for _, dir := range b.Created {
		_ = os.Remove(dir) // Not empty: somebody else uses it by now.
	}
	if err := os.Remove(file); err != nil {
		return fmt.Errorf("forget state of the machine: %w", err)
	}
	return nil
}
