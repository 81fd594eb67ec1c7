// SPDX-License-Identifier: Apache-2.0

package gtid

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// twin is a set that nobody can get wrong: single GTIDs.
type twin map[string]bool

func key(uuid, tag string, n int) string { return fmt.Sprintf("%s:%s:%d", uuid, tag, n) }

// random returns a set of a small universe, so that overlaps are frequent, and a text for it as messy as is allowed.
func random(r *rand.Rand) (twin, string) {
	want := twin{}
	var members []string
	for range r.IntN(6) {
		uuid := []string{u1, ua, uf}[r.IntN(3)]
		parts := []string{scramble(r, uuid)}
		tag := ""
		for i := range 1 + r.IntN(4) {
			if i == 0 || r.IntN(3) == 0 {
				tag = []string{"", "blue", "r_2"}[r.IntN(3)]
				if tag == "" && i > 0 {
					tag = "blue"
				}
				if tag != "" {
					parts = append(parts, scramble(r, tag))
				}
			}
			first := 1 + r.IntN(14)
			last := first + r.IntN(4)
			for n := first; n <= last; n++ {
				want[key(uuid, tag, n)] = true
			}
			text := strconv.Itoa(first)
			if last > first || r.IntN(2) == 0 {
				text += space(r) + "-" + space(r) + strconv.Itoa(last)
			}
			parts = append(parts, text)
		}
		members = append(members, strings.Join(parts, space(r)+":"+space(r)))
	}
	return want, strings.Join(members, space(r)+","+space(r))
}

func scramble(r *rand.Rand, text string) string {
	if r.IntN(3) == 0 {
		return strings.ToUpper(text)
	}
	return text
}

func space(r *rand.Rand) string { return []string{"", "", "", " ", "\n"}[r.IntN(5)] }

// expand returns the single GTIDs of a set, read from its canonical text alone.
func expand(t *testing.T, s Set) twin {
	t.Helper()
	out := twin{}
	if s.IsEmpty() {
		return out
	}
	for member := range strings.SplitSeq(s.String(), ",") {
		parts := strings.Split(member, ":")
		tag := ""
		for _, part := range parts[1:] {
			if part[0] < '0' || part[0] > '9' {
				tag = part
				continue
			}
			low, high, found := strings.Cut(part, "-")
			if !found {
				high = low
			}
			first, err1 := strconv.Atoi(low)
			last, err2 := strconv.Atoi(high)
			if err1 != nil || err2 != nil {
				t.Fatalf("%q is not canonical", s)
			}
			for n := first; n <= last; n++ {
				out[key(parts[0], tag, n)] = true
			}
		}
	}
	return out
}

func filter(in twin, keep func(string) bool) twin {
	out := maps.Clone(in)
	maps.DeleteFunc(out, func(k string, _ bool) bool { return !keep(k) })
	return out
}

func TestSetsAgreeWithADumbTwin(t *testing.T) {
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 1))
		ta, textA := random(r)
		tb, textB := random(r)
		a, err := Parse(textA)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		b, err := Parse(textB)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		before := a.String() + "|" + b.String()
		union := maps.Clone(ta)
		maps.Copy(union, tb)
		for what, c := range map[string]struct {
			want twin
			got  Set
		}{
			"Parse":     {ta, a},
			"Union":     {union, a.Union(b)},
			"Subtract":  {filter(ta, func(k string) bool { return !tb[k] }), a.Subtract(b)},
			"Intersect": {filter(ta, func(k string) bool { return tb[k] }), a.Intersect(b)},
		} {
			if !maps.Equal(c.want, expand(t, c.got)) || c.got.Count() != int64(len(c.want)) {
				t.Fatalf("seed %d: %s of\n%s\n%s\n= %s, Count %d, want %d", seed, what, textA, textB, c.got, c.got.Count(), len(c.want))
			}
			if again := MustParse(c.got.String()); !again.Equal(c.got) || again.String() != c.got.String() {
				t.Fatalf("seed %d: %s reads back as %s", seed, c.got, again)
			}
		}
		contains := len(filter(tb, func(k string) bool { return ta[k] })) == len(tb)
		if a.Contains(b) != contains || a.Equal(b) != maps.Equal(ta, tb) || a.IsEmpty() != (len(ta) == 0) {
			t.Fatalf("seed %d: %s and %s: Contains %v, Equal %v, IsEmpty %v", seed, a, b, a.Contains(b), a.Equal(b), a.IsEmpty())
		}
		if after := a.String() + "|" + b.String(); after != before {
			t.Fatalf("seed %d: the operands changed from %s to %s", seed, before, after)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(u1 + ":1-5:7:blue:1-3," + ua + ":9")
	f.Add(" " + strings.ToUpper(ua) + " : 3 - 4 ,,")
	for _, text := range malformed() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(s.String())
		if err != nil || !again.Equal(s) || again.String() != s.String() {
			t.Errorf("Parse(%q) = %s, which reads back as %s, %v", text, s, again, err)
		}
	})
}

func FuzzAlgebra(f *testing.F) {
	f.Add(u1+":1-5:7", u1+":4-9")
	f.Add(u1+":1-5:blue:2", ua+":1")
	f.Fuzz(func(t *testing.T, textA, textB string) {
		a, errA := Parse(textA)
		b, errB := Parse(textB)
		if errA != nil || errB != nil {
			return
		}
		for law, holds := range map[string]bool{
			"a ∪ b = b ∪ a":             a.Union(b).Equal(b.Union(a)),
			"a ∩ b = b ∩ a":             a.Intersect(b).Equal(b.Intersect(a)),
			"(a − b) ∪ (a ∩ b) = a":     a.Subtract(b).Union(a.Intersect(b)).Equal(a),
			"(a − b) ∩ b = ∅":           a.Subtract(b).Intersect(b).IsEmpty(),
			"(a ∪ b) − b = a − b":       a.Union(b).Subtract(b).Equal(a.Subtract(b)),
			"a ⊆ a ∪ b":                 a.Union(b).Contains(a),
			"a ∩ b ⊆ b":                 b.Contains(a.Intersect(b)),
			"a = b ⇔ a ⊆ b and b ⊆ a":   a.Equal(b) == (a.Contains(b) && b.Contains(a)),
			"a ∪ b has its normal form": MustParse(a.Union(b).String()).Equal(a.Union(b)),
			"a − b has its normal form": MustParse(a.Subtract(b).String()).Equal(a.Subtract(b)),
		} {
			if !holds {
				t.Errorf("%s does not hold for\n%s\n%s", law, a, b)
			}
		}
	})
}
