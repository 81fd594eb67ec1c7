// SPDX-License-Identifier: Apache-2.0

package mysqlroot

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// programs are the wrapped programs and the options each needs to find the tree's files instead of the host's.
func programs(root string) map[string][]string {
	share := filepath.Join(root, "usr/share/mysql")
	plugins := filepath.Join(root, "usr/lib/mysql/plugin")
	charsets := "--character-sets-dir=" + filepath.Join(share, "charsets")
	client := []string{charsets, "--plugin-dir=" + plugins}
	return map[string][]string{
		// secure-file-priv is compiled in as a folder of the image; mysqld refuses to start where it is missing.
		"usr/sbin/mysqld": {
			"--basedir=" + filepath.Join(root, "usr"), "--lc-messages-dir=" + share, "--plugin-dir=" + plugins, charsets, "--secure-file-priv=NULL",
		},
		"usr/bin/mysql":       client,
		"usr/bin/mysqldump":   client,
		"usr/bin/mysqladmin":  client,
		"usr/bin/mysqlbinlog": {charsets, "--plugin-dir=" + plugins},
	}
}

// Options that MySQL accepts only before all others stay in front of the options that the wrapper adds.
const wrapper = `#!/bin/sh
# Written by devcluster: runs the MySQL tree's own program through the tree's own loader, in this very process.
first= second=
case "${1-}" in --no-defaults | --print-defaults | --defaults-file=* | --defaults-extra-file=*) first=$1; shift ;; esac
case "${1-}" in --defaults-group-suffix=* | --defaults-extra-file=* | --no-login-paths | --login-path=*) second=$1; shift ;; esac
exec '%[1]s' --argv0 '%[2]s' --library-path '%[3]s' '%[4]s' ${first:+"$first"} ${second:+"$second"} %[5]s "$@"
`

func writeWrappers(t Tree) error {
	if err := os.MkdirAll(t.Bin, 0o755); err != nil {
		return fmt.Errorf("create wrapper folder: %w", err)
	}
	for program, options := range programs(t.Root) {
		name := filepath.Base(program)
		text := script(t.Root, program, options)
		path := filepath.Join(t.Bin, name)
		if old, err := os.ReadFile(path); err == nil && string(old) == text {
			continue // A running test may be starting it at this moment.
		}
		if err := os.WriteFile(path+".new", []byte(text), 0o755); err != nil {
			return fmt.Errorf("write wrapper: %w", err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			return fmt.Errorf("write wrapper: %w", err)
		}
	}
	return nil
}

func script(root, program string, options []string) string {
	quoted := make([]string, len(options))
	for i, o := range options {
		quoted[i] = "'" + o + "'"
	}
	libraries := filepath.Join(root, "usr/lib", triplet)
	return fmt.Sprintf(wrapper, filepath.Join(root, loader), filepath.Base(program), libraries, filepath.Join(root, program), strings.Join(quoted, " "))
}
