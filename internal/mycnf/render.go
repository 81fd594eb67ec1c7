// SPDX-License-Identifier: Apache-2.0

package mycnf

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/keelson-dev/mysql-operator/internal/version"
)

// Input is what my.cnf follows from.
type Input struct {
	Settings Settings
	// Version is that of the mysqld binary at hand.
	Version version.MySQL
	// MemoryLimit of the container in bytes; 0 when there is none.
	MemoryLimit int64
}

// option is one line of my.cnf.
type option struct{ name, value string }

// Render writes my.cnf. The user's settings come after the defaults and replace them; an owned key is refused.
func Render(in Input) ([]byte, error) {
	if err := version.Supported(in.Version); err != nil {
		return nil, fmt.Errorf("render my.cnf: %w", err)
	}
	if err := in.Settings.check(in.Version); err != nil {
		return nil, fmt.Errorf("render my.cnf: %w", err)
	}
	var b strings.Builder
	b.WriteString("# Written by the instance manager at every start of mysqld; edits are lost. What the safety of the data\n" +
		"# rests on is on mysqld's command line.\n[mysqld]\n")
	fmt.Fprintf(&b, "\n# Defaults for MySQL %s", in.Version.Series())
	if in.MemoryLimit > 0 {
		fmt.Fprintf(&b, " with a memory limit of %d MiB", in.MemoryLimit/miB)
	}
	b.WriteByte('\n')
	for _, o := range defaults(in) {
		if _, replaced := in.Settings.Config[o.name]; !replaced {
			fmt.Fprintf(&b, "%s = %s\n", o.name, quote(o.value))
		}
	}
	if len(in.Settings.Config) > 0 {
		b.WriteString("\n# spec.mysql.config\n")
	}
	for _, key := range slices.Sorted(maps.Keys(in.Settings.Config)) {
		fmt.Fprintf(&b, "%s = %s\n", key, quote(in.Settings.Config[key]))
	}
	return []byte(b.String()), nil
}
