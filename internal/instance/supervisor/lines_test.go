// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseLogLine(t *testing.T) {
	cases := map[string]struct {
		line string
		want LogLine
	}{
		"the traditional format": {
			"2026-11-29T16:29:43.520526Z 0 [System] [MY-010931] [Server] mysqld: ready for connections. Version: '9.7.4-2'",
			LogLine{Priority: "System", Code: "MY-010931", Subsystem: "Server", Message: "mysqld: ready for connections. Version: '9.7.4-2'"},
		},
		"an error of a thread": {
			"2026-11-29T16:29:43.520526Z 12 [ERROR] [MY-010584] [Repl] Replica I/O: error",
			LogLine{Priority: "Error", Code: "MY-010584", Subsystem: "Repl", Thread: 12, Message: "Replica I/O: error"},
		},
		"the JSON format": {
			`{"prio":0,"err_code":10931,"subsystem":"Server","msg":"ready","time":"x","thread":3,"err_symbol":"ER_STARTUP","label":"System"}`,
			LogLine{Priority: "System", Code: "MY-010931", Subsystem: "Server", Thread: 3, Message: "ready"},
		},
		"a stack trace":          {"/usr/sbin/mysqld(my_print_stacktrace+0x2e) [0x1]", LogLine{Message: "/usr/sbin/mysqld(my_print_stacktrace+0x2e) [0x1]"}},
		"something like JSON":    {`{"msg":`, LogLine{Message: `{"msg":`}},
		"six words, no brackets": {"one two three four five six", LogLine{Message: "one two three four five six"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, ParseLogLine(c.line)); diff != "" {
				t.Errorf("ParseLogLine() mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBackoff(t *testing.T) {
	var b Backoff
	want := []int64{100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000}
	for i, w := range want {
		if got := b.After(time.Second); got.Milliseconds() != w {
			t.Errorf("wait %d is %s, want %d ms", i, got, w)
		}
	}
	if got := b.After(time.Hour); got != backoffFirst {
		t.Errorf("after a long run the wait is %s, want %s", got, backoffFirst)
	}
}
