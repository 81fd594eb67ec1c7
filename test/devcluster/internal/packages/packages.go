// SPDX-License-Identifier: Apache-2.0

package packages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/command"
)

// List is the file, relative to the checkout's root, that names the packages.
const List = "hack/debian-packages.txt"

// ErrNotDebian means that the machine has no apt.
var ErrNotDebian = errors.New("not a Debian machine: install the equivalents of " + List + " by hand")

// Names reads the list: one name a line, # begins a comment.
func Names(list string) []string {
	var names []string
	for line := range strings.Lines(list) {
		name, _, _ := strings.Cut(line, "#")
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Ensure installs the packages of the list that the machine lacks.
func Ensure(ctx context.Context, root string, progress io.Writer) error {
	text, err := os.ReadFile(filepath.Join(root, List))
	if err != nil {
		return fmt.Errorf("read list of packages: %w", err)
	}
	if _, err := exec.LookPath("dpkg-query"); err != nil {
		return ErrNotDebian
	}
	missing := missing(ctx, Names(string(text)))
	if len(missing) == 0 {
		return nil
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("these Debian packages are missing and only root can install them: apt-get install %s", strings.Join(missing, " "))
	}
	_, _ = fmt.Fprintf(progress, "installing Debian packages: %s\n", strings.Join(missing, " "))
	if err := command.Run(ctx, "apt-get", "update", "-qq"); err != nil {
		return fmt.Errorf("update package lists: %w", err)
	}
	args := append([]string{"DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq", "--no-install-recommends"}, missing...)
	if err := command.Run(ctx, "env", args...); err != nil {
		return fmt.Errorf("install packages: %w", err)
	}
	return nil
}

func missing(ctx context.Context, names []string) []string {
	installed := map[string]bool{}
	// dpkg-query exits with 1 when one name is unknown and still answers for the others.
	args := append([]string{"-W", "-f", "${Package} ${db:Status-Status}\n"}, names...)
	out, _ := exec.CommandContext(ctx, "dpkg-query", args...).Output()
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutSuffix(strings.TrimSpace(line), " installed"); ok {
			installed[name] = true
		}
	}
	var absent []string
	for _, name := range names {
		if !installed[name] {
			absent = append(absent, name)
		}
	}
	return absent
}
