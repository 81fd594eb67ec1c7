// SPDX-License-Identifier: Apache-2.0

package csi

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// mount is one line of mountinfo.
type mount struct {
	device string // major:minor
	root   string // what of the file system is mounted
	target string
}

func parseMounts(mountinfo string) []mount {
	var mounts []mount
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		const targetField = 4
		if len(fields) > targetField {
			mounts = append(mounts, mount{device: fields[2], root: fields[3], target: fields[targetField]})
		}
	}
	return mounts
}

func mounts() []mount {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	return parseMounts(string(text))
}

func mounted(path string) bool {
	for _, m := range mounts() {
		if m.target == path {
			return true
		}
	}
	return false
}

// published tells whether what is mounted at staging is mounted anywhere else too.
func published(all []mount, staging string) bool {
	var staged mount
	for _, m := range all {
		if m.target == staging {
			staged = m
		}
	}
	for _, m := range all {
		if m.target != staging && staged.target != "" && m.device == staged.device && m.root == staged.root {
			return true
		}
	}
	return false
}

func unmount(path string) error {
	if err := unix.Unmount(path, 0); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unmount %s: %w", path, err)
	}
	return nil
}
