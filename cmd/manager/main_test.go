// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDispatch(t *testing.T) {
	errRan := errors.New("ran")
	tests := map[string]struct {
		args      []string
		want      string
		wantArgs  []string
		wantError string
	}{
		"a sub-command gets its arguments": {args: []string{"work", "--hard"}, wantArgs: []string{"--hard"}, wantError: "ran"},
		"help lists the sub-commands":      {args: []string{"--help"}, want: "work"},
		"version prints the version":       {args: []string{"version"}, want: "dev"},
		"nothing is refused":               {args: nil, wantError: "name a sub-command"},
		"an unknown word is refused":       {args: []string{"rest"}, wantError: `"rest" is no sub-command`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			work := command{name: "work", run: func(args []string) error { got = args; return errRan }}
			var output bytes.Buffer
			err := dispatch([]command{work}, &output, test.args)
			if (err != nil) != (test.wantError != "") || (err != nil && !strings.Contains(err.Error(), test.wantError)) {
				t.Errorf("dispatch(%v) = %v, want an error that says %q", test.args, err, test.wantError)
			}
			if !strings.Contains(output.String(), test.want) {
				t.Errorf("dispatch(%v) printed %q, want it to hold %q", test.args, output.String(), test.want)
			}
			if diff := cmp.Diff(test.wantArgs, got); diff != "" {
				t.Errorf("arguments of the sub-command mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
