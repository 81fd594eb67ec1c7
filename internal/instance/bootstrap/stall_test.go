// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"testing"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/mysql"
)

func TestACloneThatStandsStillIsGivenUp(t *testing.T) {
	begin := time.Unix(1000, 0)
	copying := func(bytes int64) mysql.CloneProgress { return mysql.CloneProgress{Stage: "FILE COPY", Bytes: bytes} }
	for name, c := range map[string]struct {
		then mysql.CloneProgress
		want bool
	}{
		"no byte came":               {copying(7), true},
		"bytes came":                 {copying(8), false},
		"what was copied is written": {mysql.CloneProgress{Stage: "FILE SYNC", Bytes: 7}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var s stall
			if s.stands(copying(7), begin) {
				t.Error("given up at once")
			}
			if got := s.stands(c.then, begin.Add(stallTimeout)); got != c.want {
				t.Errorf("stands() = %v, want %v", got, c.want)
			}
		})
	}
}
