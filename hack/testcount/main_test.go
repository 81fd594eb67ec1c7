// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTestcount(t *testing.T) {
	tests := map[string]struct {
		events    string
		arguments []string
		want      string
		wantOK    bool
	}{
		"tests and subtests count alike": {
			events: `{"Action":"pass","Package":"p","Test":"TestA/one"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}`,
			want:   "2 passed, 0 failed, 0 skipped\n",
			wantOK: true,
		},
		"a failed package is told by its failed test": {
			events: `{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}`,
			want: "FAILED  p TestA\n0 passed, 1 failed, 0 skipped\n",
		},
		"a package that died without a failed test is a failure": {
			events: `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}`,
			want: "FAILED  p (did not build, or its process died)\n1 passed, 1 failed, 0 skipped\n",
		},
		"a package that does not build is a failure": {
			events: `{"Action":"pass","Package":"p","Test":"TestA"}
{"ImportPath":"q [q.test]","Action":"build-fail"}`,
			want: "FAILED  q [q.test] (did not build, or its process died)\n1 passed, 1 failed, 0 skipped\n",
		},
		"a skipped test says why": {
			events: `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:3: no second node\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB"}`,
			want:   "SKIPPED p TestB: b_test.go:3: no second node\n1 passed, 0 failed, 1 skipped\n",
			wantOK: true,
		},
		"a step that failed is a failure": {
			events:    `{"Action":"pass","Package":"p","Test":"TestA"}`,
			arguments: []string{"-failed", "make check"},
			want:      "FAILED  step: make check\n1 passed, 1 failed, 0 skipped\n",
		},
		"half a line is a failure, and what came before it counts": {
			events: `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pa`,
			want: "FAILED  step: read the results: decode results: unexpected EOF\n1 passed, 1 failed, 0 skipped\n",
		},
		"no tests at all is no success": {
			events: "",
			want:   "0 passed, 0 failed, 0 skipped\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "unit.jsonl")
			if err := os.WriteFile(file, []byte(test.events), 0o600); err != nil {
				t.Fatal(err)
			}
			var output bytes.Buffer
			ok, err := run(&output, append(test.arguments, file))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, output.String()); diff != "" {
				t.Errorf("output mismatch (-want +got):\n%s", diff)
			}
			if ok != test.wantOK {
				t.Errorf("run() says ok=%t, want %t", ok, test.wantOK)
			}
		})
	}
}

func TestMissingResultsAreAFailure(t *testing.T) {
	ok, err := run(&bytes.Buffer{}, []string{filepath.Join(t.TempDir(), "*.jsonl")})
	if err != nil || ok {
		t.Errorf("run() = %t, %v; want false and no error, since the counts are still printed", ok, err)
	}
}
