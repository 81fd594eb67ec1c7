// SPDX-License-Identifier: Apache-2.0

package mycnf

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keelson-dev/mysql-operator/internal/testing/golden"
	"github.com/keelson-dev/mysql-operator/internal/testing/mysqld"
	"github.com/keelson-dev/mysql-operator/internal/version"
)

func v84() version.MySQL { return version.MySQL{Major: 8, Minor: 4, Patch: 6} }
func v97() version.MySQL { return version.MySQL{Major: 9, Minor: 7, Patch: 4} }

// renderCases are the golden files: the name of the file, and what it follows from.
func renderCases() map[string]Input {
	user := map[string]string{
		"max_connections":   "500",
		"sql_mode":          "",
		"init_connect":      `SET @note = 'a # b; c\d "e"'`,
		"default_time_zone": "+00:00",
	}
	return map[string]Input{
		"9.7-no-limit":   {Version: v97()},
		"9.7-512MiB":     {Version: v97(), MemoryLimit: 512 * miB},
		"9.7-1GiB":       {Version: v97(), MemoryLimit: giB},
		"9.7-4GiB":       {Version: v97(), MemoryLimit: 4 * giB},
		"9.7-64GiB":      {Version: v97(), MemoryLimit: 64 * giB},
		"9.7-user":       {Version: v97(), MemoryLimit: 2 * giB, Settings: Settings{Version: "9.7.4", Config: user}},
		"9.7-odd-limit":  {Version: v97(), MemoryLimit: 3_000_000_001},
		"8.4-1GiB":       {Version: v84(), MemoryLimit: giB},
		"8.4-user":       {Version: v84(), MemoryLimit: 4 * giB, Settings: Settings{Version: "8.4.6", Config: user}},
		"9.7-other-pool": {Version: v97(), MemoryLimit: 4 * giB, Settings: Settings{Config: map[string]string{"innodb_buffer_pool_size": "1G"}}},
	}
}

func goldenFile(name string) string { return filepath.Join("testdata", name+".golden.cnf") }

func TestRender(t *testing.T) {
	wanted := map[string]bool{}
	for name, in := range renderCases() {
		wanted[goldenFile(name)] = true
		t.Run(name, func(t *testing.T) {
			got, err := Render(in)
			if err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, goldenFile(name), got)
		})
	}
	golden.NoOrphans(t, "testdata", wanted)
}

// A golden file cannot be consistently wrong when its real reader judges it. The reader at hand is 9.7; what is
// written for 8.4 is a subset of what 9.7 knows, so it is judged too, though not by an 8.4.
func TestGoldenFilesAreAcceptedByMysqld(t *testing.T) {
	bin := mysqld.Bin(t)
	for name := range renderCases() {
		t.Run(name, func(t *testing.T) {
			file, err := filepath.Abs(goldenFile(name))
			if err != nil {
				t.Fatal(err)
			}
			s := testServer(t.TempDir())
			s.Paths.Config = file
			args := append(SafetyFlags(s), "--validate-config", "--log-error-verbosity=3", "--console")
			out, err := mysqld.Command(t.Context(), bin, args...).CombinedOutput()
			if err != nil {
				t.Errorf("mysqld refuses %s: %v\n%s", file, err, out)
			}
			for line := range strings.Lines(string(out)) {
				if strings.Contains(line, "deprecated") || strings.Contains(line, "MY-000081") {
					t.Errorf("mysqld finds fault with %s: %s", file, line)
				}
			}
		})
	}
}

func TestMysqldRefusesAWrongFile(t *testing.T) {
	s := testServer(t.TempDir())
	args := append(SafetyFlags(s), "--no-such-variable=1", "--validate-config")
	if out, err := mysqld.Command(t.Context(), mysqld.Bin(t), args...).CombinedOutput(); err == nil {
		t.Errorf("mysqld accepts an unknown variable, so it judges nothing:\n%s", out)
	}
}

func TestRenderRefuses(t *testing.T) {
	config := func(key, value string) Settings { return Settings{Config: map[string]string{key: value}} }
	for name, c := range map[string]struct {
		in   Input
		want error
	}{
		"an owned variable":                   {Input{Version: v97(), Settings: config("gtid_mode", "OFF")}, ErrOwned},
		"a variable of an owned family":       {Input{Version: v97(), Settings: config("rpl_semi_sync_source_timeout", "10")}, ErrOwned},
		"an owned variable behind a prefix":   {Input{Version: v97(), Settings: config("loose_server_id", "5")}, ErrOwned},
		"a second line in a value":            {Input{Version: v97(), Settings: config("init_connect", "x\nserver_id=5")}, ErrSetting},
		"a carriage return in a value":        {Input{Version: v97(), Settings: config("init_connect", "x\rserver_id=5")}, ErrSetting},
		"a value that is too long":            {Input{Version: v97(), Settings: config("init_connect", strings.Repeat("x", 1025))}, ErrSetting},
		"a value whose line mysqld would cut": {Input{Version: v97(), Settings: config("init_connect", strings.Repeat("𝒳", 1000))}, ErrSetting},
		"a key with a dash":                   {Input{Version: v97(), Settings: config("max-connections", "5")}, ErrSetting},
		"a key in upper case":                 {Input{Version: v97(), Settings: config("MAX_CONNECTIONS", "5")}, ErrSetting},
		"a key that opens another section":    {Input{Version: v97(), Settings: config("[client]", "")}, ErrSetting},
		"an empty key":                        {Input{Version: v97(), Settings: config("", "")}, ErrSetting},
		"a mysqld of another series":          {Input{Version: v84(), Settings: Settings{Version: "9.7.4"}}, ErrSeries},
		"a version that is none":              {Input{Version: v97(), Settings: Settings{Version: "nine"}}, version.ErrSyntax},
		"a mysqld past its end of life":       {Input{Version: version.MySQL{Major: 8, Patch: 44}}, version.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := Render(c.in); !errors.Is(err, c.want) {
				t.Errorf("Render() = %q, %v, want error %v", out, err, c.want)
			}
		})
	}
}

func TestAnotherPatchOfTheSeriesIsRendered(t *testing.T) {
	if _, err := Render(Input{Version: version.MySQL{Major: 9, Minor: 7, Patch: 5}, Settings: Settings{Version: "9.7.4"}}); err != nil {
		t.Errorf("Render() = %v, want nil: within a series data files are compatible", err)
	}
}

func TestBufferPoolFitsTheLimitAndTheServersRounding(t *testing.T) {
	last := int64(0)
	for limit := 256 * miB; limit < 300*giB; limit += 61 * miB {
		p := bufferPool(limit)
		if p.bytes < 64*miB || p.bytes > max(64*miB, limit-400*miB) {
			t.Fatalf("limit %d MiB: pool %d MiB leaves too little", limit/miB, p.bytes/miB)
		}
		if p.bytes >= 128*miB && p.bytes%(128*miB*p.instances) != 0 {
			t.Fatalf("limit %d MiB: the server would round %d MiB in %d instances up", limit/miB, p.bytes/miB, p.instances)
		}
		// Rounding down to whole instances may give back up to one chunk for each.
		if p.bytes+128*miB*p.instances <= last {
			t.Fatalf("limit %d MiB: pool %d MiB is smaller than with less memory, %d MiB", limit/miB, p.bytes/miB, last/miB)
		}
		last = p.bytes
	}
}

func TestQuote(t *testing.T) {
	for name, c := range map[string]struct{ value, want string }{
		"a number":       {"500", "500"},
		"a path":         {"/tmp/a-b_c.log", "/tmp/a-b_c.log"},
		"nothing":        {"", `""`},
		"a comment sign": {"a#b", `"a#b"`},
		"a semicolon":    {"a;b", `"a;b"`},
		"spaces":         {" a ", `" a "`},
		"a backslash":    {`a\nb`, `"a\\nb"`},
		"quotes":         {`"a'`, `"\"a'"`},
		"a tab":          {"a\tb", `"a\tb"`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, quote(c.value)); diff != "" {
				t.Errorf("quote(%q) mismatch (-want +got):\n%s", c.value, diff)
			}
		})
	}
}

// FuzzRender: whatever is accepted stays within its own line.
func FuzzRender(f *testing.F) {
	f.Add("init_connect", `SET @a = "b # c\"`)
	f.Add("x", "a\r\nb")
	f.Fuzz(func(t *testing.T, key, value string) {
		out, err := Render(Input{Version: v97(), Settings: Settings{Config: map[string]string{key: value}}})
		if err != nil {
			return
		}
		plain, err := Render(Input{Version: v97()})
		if err != nil {
			t.Fatal(err)
		}
		// A replaced default takes its line away, the heading adds two.
		extra := strings.Count(string(out), "\n") - strings.Count(string(plain), "\n")
		if extra != 3 && extra != 2 {
			t.Errorf("Render(%q = %q) added %d lines:\n%s", key, value, extra, out)
		}
		for line := range strings.Lines(string(out)) {
			if len(line) > 4095 {
				t.Errorf("Render(%q = %q) writes a line that mysqld would cut", key, value)
			}
		}
	})
}
