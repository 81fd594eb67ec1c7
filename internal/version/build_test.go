// SPDX-License-Identifier: Apache-2.0

package version

import (
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBuildOf(t *testing.T) {
	checkout := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: modified}}
	}
	for name, c := range map[string]struct {
		release string
		info    debug.BuildInfo
		want    Build
	}{
		"the linker's release wins": {
			release: "1.2.0", info: debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "(devel)"}},
			want: Build{Version: "1.2.0", Go: "go1.26.8"},
		},
		"a build from the module proxy tells its version": {
			info: debug.BuildInfo{Main: debug.Module{Version: "v1.2.0"}}, want: Build{Version: "v1.2.0"},
		},
		"an ordinary build is dev": {info: debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, want: Build{Version: "dev"}},
		"no information is dev":    {want: Build{Version: "dev"}},
		"a clean checkout":         {info: debug.BuildInfo{Settings: checkout("false")}, want: Build{Version: "dev", Commit: "abc"}},
		"a checkout with changes":  {info: debug.BuildInfo{Settings: checkout("true")}, want: Build{Version: "dev", Commit: "abc-dirty"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, buildOf(c.release, &c.info)); diff != "" {
				t.Errorf("buildOf() mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadBuildKnowsTheToolchain(t *testing.T) {
	if b := ReadBuild("1.0.0"); b.Go == "" || b.Version != "1.0.0" {
		t.Errorf("ReadBuild() = %+v, want a Go version and release 1.0.0", b)
	}
}
