// SPDX-License-Identifier: Apache-2.0

package version

import (
	"runtime/debug"
)

// Build is what this binary was built from.
type Build struct {
	Version string // release, for example 1.2.0; "dev" for an ordinary go build
	Commit  string // empty when it was not built from a checkout
	Go      string
}

// ReadBuild returns what the toolchain recorded in the binary. release is what the linker put into the main package,
// or "": only cmd holds such a variable, so nothing here can change while the program runs.
func ReadBuild(release string) Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(release, info)
}

func buildOf(release string, info *debug.BuildInfo) Build {
	b := Build{Version: release, Go: info.GoVersion}
	if b.Version == "" {
		b.Version = info.Main.Version
	}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "dev"
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value + b.Commit
		case "vcs.modified":
			if s.Value == "true" {
				b.Commit += "-dirty"
			}
		}
	}
	return b
}
