// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const report = `{"config":{}} {"osv":{"id":"GO-1","summary":"a hole"}}
{"finding":{"osv":"GO-1","fixed_version":"v2","trace":[{"module":"m","version":"v1"}]}}
{"finding":{"osv":"GO-1","fixed_version":"v2","trace":[{"module":"m","version":"v1","package":"m/p","function":"F"}]}}
{"finding":{"osv":"GO-2","fixed_version":"v2","trace":[{"module":"m","version":"v1","package":"m/q"}]}}`

func TestVulncheck(t *testing.T) {
	tests := map[string]struct {
		report    string
		accepted  string
		wantError string
	}{
		"a reached vulnerability fails": {
			report: report, accepted: "# nothing\n",
			wantError: "GO-1: a hole: found in m/p@v1, fixed in v2, reached through F",
		},
		"an accepted one passes, and one that is not called needs no acceptance": {
			report: report, accepted: "GO-1 we do not call it with input from outside\n",
		},
		"an acceptance without a reason is refused": {
			report: report, accepted: "GO-1\n",
			wantError: "no reason",
		},
		"an empty report is no clean report": {
			report: "", accepted: "",
			wantError: "did not run",
		},
		"a torn report is refused": {
			report: `{"config":`, accepted: "",
			wantError: "decode report",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "accepted.txt")
			if err := os.WriteFile(file, []byte(test.accepted), 0o600); err != nil {
				t.Fatal(err)
			}
			err := run(strings.NewReader(test.report), &bytes.Buffer{}, []string{file})
			if test.wantError == "" && err != nil {
				t.Errorf("run() = %v, want no error", err)
			}
			if test.wantError != "" && (err == nil || !strings.Contains(err.Error(), test.wantError)) {
				t.Errorf("run() = %v, want an error that says %q", err, test.wantError)
			}
		})
	}
}
