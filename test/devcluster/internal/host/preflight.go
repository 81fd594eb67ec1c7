// SPDX-License-Identifier: Apache-2.0

package host

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// UnsuitableError lists what a machine lacks, in words, with the way out.
type UnsuitableError []string

// Error says everything that is missing at once, so that nobody has to fix one thing to hear of the next.
func (u UnsuitableError) Error() string {
	return "this machine cannot run the development cluster:\n  - " + strings.Join(u, "\n  - ") +
		"\nUse kind (https://kind.sigs.k8s.io) or any existing cluster instead: docs/development-cluster.md says how."
}

// check is one thing that a machine must have.
type check struct {
	lacks func() bool
	words string
}

// Check returns an error that names everything the machine lacks.
func Check(g Cgroups) error {
	if os.Geteuid() != 0 {
		// Without root nothing else can be judged: programs are outside of the PATH, cgroups look read-only.
		return UnsuitableError{"it needs root: namespaces, mounts and loop devices are made for real"}
	}
	var missing UnsuitableError
	for _, c := range checks(g) {
		if c.lacks() {
			missing = append(missing, c.words)
		}
	}
	for _, program := range []string{"runc", "iptables", "iptables-save", "conntrack", "ipset", "nsenter", "losetup", "mkfs.xfs", "xfs_growfs"} {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, fmt.Sprintf("%s is not installed (packages: hack/debian-packages.txt)", program))
		}
	}
	if len(missing) > 0 {
		return missing
	}
	return nil
}

func checks(g Cgroups) []check {
	return []check{
		{func() bool { dirs, err := g.hierarchies(); return err != nil || len(dirs) == 0 }, "no cgroups at " + g.Mount},
		{func() bool { return unix.Access(g.Mount, unix.W_OK) != nil || readOnly(g.Mount) }, "cgroups at " + g.Mount + " are read-only (an unprivileged container?)"},
		{func() bool { _, err := os.Stat("/dev/loop-control"); return err != nil }, "no loop devices: /dev/loop-control is missing"},
		{func() bool { _, err := os.Stat("/usr/lib/cni/ptp"); return err != nil }, "no CNI plugins in /usr/lib/cni (package containernetworking-plugins)"},
		{func() bool { return !supports("overlay") }, "the kernel has no overlayfs"},
		{func() bool { return !supports("xfs") }, "the kernel has no XFS, which volumes that grow are made of"},
		{func() bool { _, err := os.Stat("/proc/self/ns/pid"); return err != nil }, "the kernel has no namespaces"},
	}
}

func readOnly(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && fs.Flags&unix.ST_RDONLY != 0 && !hasWritableChild(path)
}

// hasWritableChild: with cgroup v1 the folder that holds the hierarchies is itself often read-only.
func hasWritableChild(path string) bool {
	children, _ := filepath.Glob(filepath.Join(path, "*"))
	for _, child := range children {
		if unix.Access(child, unix.W_OK) == nil {
			return true
		}
	}
	return false
}

func supports(filesystem string) bool {
	text, err := os.ReadFile("/proc/filesystems")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasSuffix(strings.TrimSpace(line), "\t"+filesystem) || strings.TrimSpace(line) == filesystem {
			return true
		}
	}
	_, err = exec.Command("modprobe", filesystem).Output() //nolint:noctx // Answers at once.
	return err == nil
}
