// SPDX-License-Identifier: Apache-2.0

package gtid

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	u1 = "11111111-1111-1111-1111-111111111111"
	ua = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"
	uf = "ffffffff-ffff-ffff-ffff-ffffffffffff"
)

func TestParseWritesTheCanonicalText(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                              {"", ""},
		"white space":                          {" \n\t", ""},
		"empty members":                        {",," + u1 + ":1,,", u1 + ":1"},
		"one transaction":                      {u1 + ":5", u1 + ":5"},
		"an interval":                          {u1 + ":1-5", u1 + ":1-5"},
		"an interval of one":                   {u1 + ":5-5", u1 + ":5"},
		"unordered intervals":                  {u1 + ":7-9:1-3", u1 + ":1-3:7-9"},
		"overlapping intervals":                {u1 + ":1-5:3-9:4", u1 + ":1-9"},
		"touching intervals":                   {u1 + ":1-5:6-9", u1 + ":1-9"},
		"a gap of one":                         {u1 + ":1-5:7-9", u1 + ":1-5:7-9"},
		"the same UUID twice":                  {u1 + ":1-3," + u1 + ":5", u1 + ":1-3:5"},
		"UUIDs out of order":                   {uf + ":1," + u1 + ":1," + ua + ":1", u1 + ":1," + ua + ":1," + uf + ":1"},
		"upper case":                           {strings.ToUpper(ua) + ":1:BLUE:2", ua + ":1:blue:2"},
		"as the server breaks lines":           {u1 + ":1-3,\n" + ua + ":1", u1 + ":1-3," + ua + ":1"},
		"spaces between tokens":                {" " + u1 + " : 1 - 3 : 5 , " + ua + " : 1 ", u1 + ":1-3:5," + ua + ":1"},
		"a tag":                                {u1 + ":blue:1-3", u1 + ":blue:1-3"},
		"no tag and a tag":                     {u1 + ":1-5:blue:1-3", u1 + ":1-5:blue:1-3"},
		"tags out of order":                    {u1 + ":red:2:blue:1", u1 + ":blue:1:red:2"},
		"a tag apart from its UUID's rest":     {u1 + ":blue:1," + u1 + ":4," + u1 + ":blue:2", u1 + ":4:blue:1-2"},
		"the same number in two tags":          {u1 + ":1:a:1:b:1", u1 + ":1:a:1:b:1"},
		"the longest tag":                      {u1 + ":" + strings.Repeat("t", 32) + ":1", u1 + ":" + strings.Repeat("t", 32) + ":1"},
		"a tag of an underscore and digits":    {u1 + ":_1:1", u1 + ":_1:1"},
		"the last number":                      {u1 + ":9223372036854775806", u1 + ":9223372036854775806"},
		"all numbers":                          {u1 + ":1-9223372036854775806", u1 + ":1-9223372036854775806"},
		"all numbers in two touching halves":   {u1 + ":1-4611686018427387903:4611686018427387904-9223372036854775806", u1 + ":1-9223372036854775806"},
		"intervals that touch the last number": {u1 + ":9223372036854775806:9223372036854775805", u1 + ":9223372036854775805-9223372036854775806"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, s.String()); diff != "" {
				t.Errorf("Parse(%q) mismatch (-want +got):\n%s", c.text, diff)
			}
			if s.IsEmpty() != (c.want == "") {
				t.Errorf("Parse(%q).IsEmpty() = %v", c.text, s.IsEmpty())
			}
		})
	}
}

func malformed() map[string]string {
	return map[string]string{
		"an interval that ends before it begins": u1 + ":5-3",
		"a UUID in braces":                       "{" + u1 + "}:1",
		"a UUID without dashes":                  strings.ReplaceAll(u1, "-", "") + ":1",
		"a UUID alone":                           u1,
		"a UUID and a colon":                     u1 + ":",
		"a UUID that is too short":               u1[:35] + ":1",
		"a UUID with a foreign sign":             "g" + u1[1:] + ":1",
		"dashes in wrong places":                 "1111-11111111-1111-1111-111111111111:1",
		"zero":                                   u1 + ":0",
		"a range from zero":                      u1 + ":0-3",
		"a negative number":                      u1 + ":-1",
		"a sign":                                 u1 + ":+1",
		"a number that is too large":             u1 + ":9223372036854775807",
		"a number beyond 64 bits":                u1 + ":99999999999999999999",
		"an open range":                          u1 + ":1-",
		"two dashes":                             u1 + ":1-2-3",
		"a tag without interval":                 u1 + ":blue",
		"a tag after a tag":                      u1 + ":blue:red:1",
		"a tag at the end":                       u1 + ":1:blue",
		"a tag that is too long":                 u1 + ":" + strings.Repeat("t", 33) + ":1",
		"a tag that starts with a digit":         u1 + ":1blue:1",
		"a tag with a dash":                      u1 + ":bl-ue:1",
		"letters outside ASCII":                  u1 + ":blü:1",
		"an empty interval":                      u1 + ":1::2",
		"a trailing colon":                       u1 + ":1:",
		"a semicolon":                            u1 + ":1;" + ua + ":1",
		"a space in a number":                    u1 + ":1 2",
		"words":                                  "all of them",
	}
}

func TestParseRefuses(t *testing.T) {
	for name, text := range malformed() {
		t.Run(name, func(t *testing.T) {
			if s, err := Parse(text); !errors.Is(err, ErrSyntax) {
				t.Errorf("Parse(%q) = %v, %v, want ErrSyntax", text, s, err)
			}
		})
	}
}

func TestAlgebra(t *testing.T) {
	for name, c := range map[string]struct{ a, b, union, minus, both string }{
		"both empty":          {"", "", "", "", ""},
		"an empty right side": {u1 + ":1-5", "", u1 + ":1-5", u1 + ":1-5", ""},
		"an empty left side":  {"", u1 + ":1-5", u1 + ":1-5", "", ""},
		"equal sets":          {u1 + ":1-5", u1 + ":1-5", u1 + ":1-5", "", u1 + ":1-5"},
		"a hole":              {u1 + ":1-9", u1 + ":4-6", u1 + ":1-9", u1 + ":1-3:7-9", u1 + ":4-6"},
		"both ends":           {u1 + ":3-7", u1 + ":1-3:7-9", u1 + ":1-9", u1 + ":4-6", u1 + ":3:7"},
		"several cuts of several": {
			u1 + ":1-10:20-30:40", u1 + ":2-3:9-21:25:40-50", u1 + ":1-30:40-50", u1 + ":1:4-8:22-24:26-30", u1 + ":2-3:9-10:20-21:25:40",
		},
		"another UUID is no overlap": {u1 + ":1-5", ua + ":1-5", u1 + ":1-5," + ua + ":1-5", u1 + ":1-5", ""},
		"another tag is no overlap":  {u1 + ":1-5", u1 + ":blue:1-5", u1 + ":1-5:blue:1-5", u1 + ":1-5", ""},
		"the last number":            {u1 + ":1-9223372036854775806", u1 + ":9223372036854775806", u1 + ":1-9223372036854775806", u1 + ":1-9223372036854775805", u1 + ":9223372036854775806"},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := MustParse(c.a), MustParse(c.b)
			for what, pair := range map[string][2]string{
				"Union": {c.union, a.Union(b).String()}, "Subtract": {c.minus, a.Subtract(b).String()}, "Intersect": {c.both, a.Intersect(b).String()},
			} {
				if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
					t.Errorf("%s() mismatch (-want +got):\n%s", what, diff)
				}
			}
			if got, want := a.Contains(b), c.both == c.b; got != want {
				t.Errorf("Contains() = %v, want %v", got, want)
			}
			if got, want := a.Equal(b), c.a == c.b; got != want {
				t.Errorf("Equal() = %v, want %v", got, want)
			}
		})
	}
}

func TestZeroValueIsTheEmptySet(t *testing.T) {
	var zero Set
	if !zero.IsEmpty() || zero.String() != "" || zero.Count() != 0 || !zero.Equal(MustParse("")) || !zero.Contains(zero) {
		t.Errorf("zero value: IsEmpty %v, String %q, Count %d", zero.IsEmpty(), zero, zero.Count())
	}
}

func TestCountDoesNotOverflow(t *testing.T) {
	s := MustParse(u1 + ":1-9223372036854775806:blue:1-9223372036854775806")
	if got := s.Count(); got != 9223372036854775807 {
		t.Errorf("Count() = %d, want the largest number that there is", got)
	}
}

func TestJSON(t *testing.T) {
	type holder struct {
		GTID Set `json:"gtid"`
	}
	text, err := json.Marshal(holder{MustParse(u1 + ":1-3:blue:2")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"gtid":"`+u1+`:1-3:blue:2"}`, string(text)); diff != "" {
		t.Errorf("Marshal() mismatch (-want +got):\n%s", diff)
	}
	var back holder
	if err := json.Unmarshal(text, &back); err != nil || back.GTID.String() != u1+":1-3:blue:2" {
		t.Errorf("Unmarshal() = %v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"gtid":"x"}`), &back); !errors.Is(err, ErrSyntax) || back.GTID.IsEmpty() {
		t.Errorf("Unmarshal() of rubbish = %v, %v, want ErrSyntax and the old value", back, err)
	}
}

func TestMustParsePanicsOnRubbish(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("MustParse() did not panic")
		}
	}()
	MustParse("x")
}
