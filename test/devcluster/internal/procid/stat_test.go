// SPDX-License-Identifier: Apache-2.0

package procid

import "testing"

func TestParseStat(t *testing.T) {
	t.Parallel()
	const rest = " 1 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 4711 1000 100"
	tests := map[string]struct {
		stat      string
		wantStart uint64
		wantState string
		wantErr   bool
	}{
		"an ordinary name":                     {stat: "12 (bash) S" + rest, wantStart: 4711, wantState: "S"},
		"a name with spaces and a parenthesis": {stat: "12 (a) S 1 (b) c) R" + rest, wantStart: 4711, wantState: "R"},
		"only the exit status is left":         {stat: "12 (bash) Z" + rest, wantStart: 4711, wantState: "Z"},
		"a line that was cut off":              {stat: "12 (bash) S 1 1", wantErr: true},
		"a line without a name":                {stat: "12 S" + rest, wantErr: true},
		"a start time that is not a number":    {stat: "12 (bash) S 1 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 x", wantErr: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start, state, err := parseStat(tt.stat)
			if start != tt.wantStart || state != tt.wantState || (err != nil) != tt.wantErr {
				t.Errorf("parseStat() = %d, %q, %v; want %d, %q, error %t", start, state, err, tt.wantStart, tt.wantState, tt.wantErr)
			}
		})
	}
}
