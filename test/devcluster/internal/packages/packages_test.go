// SPDX-License-Identifier: Apache-2.0

package packages

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNames(t *testing.T) {
	t.Parallel()
	got := Names("# why\n\ngcc\nmake # and why\n  git  \n")
	if diff := cmp.Diff([]string{"gcc", "make", "git"}, got); diff != "" {
		t.Errorf("Names() mismatch (-want +got):\n%s", diff)
	}
}
