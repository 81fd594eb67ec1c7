// SPDX-License-Identifier: Apache-2.0

package gtid

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Set is a set of GTIDs. The zero value is the empty set. A Set is never changed by its methods, so it may be
// copied and shared freely.
type Set struct {
	// sources maps a source to its intervals. Invariant: intervals are sorted, disjoint, not adjacent, never empty.
	sources map[source][]interval
}

// source is what numbers are unique in: the server's UUID in lower case, and the tag, which may be empty.
type source struct{ uuid, tag string }

// interval is the numbers first to last, both included. Invariant: 1 <= first <= last.
type interval struct{ first, last int64 }

// IsEmpty tells whether the set holds nothing.
func (s Set) IsEmpty() bool { return len(s.sources) == 0 }

// Count returns the number of GTIDs in the set, or the largest int64 where it is larger: one source alone may have
// 2^63-2 of them, and a negative count would make a full set look smaller than an empty one.
func (s Set) Count() int64 {
	var n int64
	for _, list := range s.sources {
		for _, i := range list {
			size := i.last - i.first + 1
			if size > math.MaxInt64-n {
				return math.MaxInt64
			}
			n += size
		}
	}
	return n
}

// Union returns what is in s or in o.
func (s Set) Union(o Set) Set {
	out := make(map[source][]interval, max(len(s.sources), len(o.sources)))
	maps.Copy(out, s.sources)
	for src, list := range o.sources {
		out[src] = normalize(slices.Concat(out[src], list))
	}
	return newSet(out)
}

// Subtract returns what is in s and not in o.
func (s Set) Subtract(o Set) Set {
	out := make(map[source][]interval, len(s.sources))
	for src, list := range s.sources {
		out[src] = subtract(list, o.sources[src])
	}
	return newSet(out)
}

// Intersect returns what is both in s and in o.
func (s Set) Intersect(o Set) Set { return s.Subtract(s.Subtract(o)) }

// Contains tells whether every GTID of o is in s. Every set contains the empty set.
func (s Set) Contains(o Set) bool { return o.Subtract(s).IsEmpty() }

// Equal tells whether both sets hold the same GTIDs.
func (s Set) Equal(o Set) bool {
	return maps.EqualFunc(s.sources, o.sources, slices.Equal[[]interval])
}

// String returns the canonical text as the server prints it, on one line without spaces: UUIDs in order, for each
// the untagged intervals first, then the tags in order. Example: "3e11…:1-5:7:blue:1-3".
func (s Set) String() string {
	var b strings.Builder
	previous := ""
	for _, src := range slices.SortedFunc(maps.Keys(s.sources), compareSources) {
		switch {
		case src.uuid != previous:
			if previous != "" {
				b.WriteByte(',')
			}
			b.WriteString(src.uuid)
			previous = src.uuid
		}
		if src.tag != "" {
			b.WriteString(":" + src.tag)
		}
		for _, i := range s.sources[src] {
			b.WriteString(":" + strconv.FormatInt(i.first, 10))
			if i.last > i.first {
				b.WriteString("-" + strconv.FormatInt(i.last, 10))
			}
		}
	}
	return b.String()
}

// MarshalText returns the canonical text.
func (s Set) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func compareSources(a, b source) int {
	if c := strings.Compare(a.uuid, b.uuid); c != 0 {
		return c
	}
	return strings.Compare(a.tag, b.tag)
}

// newSet makes a set of sources it now owns; sources without intervals are left out.
func newSet(sources map[source][]interval) Set {
	maps.DeleteFunc(sources, func(_ source, list []interval) bool { return len(list) == 0 })
	if len(sources) == 0 {
		return Set{}
	}
	return Set{sources: sources}
}

// normalize sorts a list it owns and joins what overlaps or touches.
func normalize(list []interval) []interval {
	slices.SortFunc(list, func(a, b interval) int {
		switch {
		case a.first < b.first:
			return -1
		case a.first > b.first:
			return 1
		}
		return 0
	})
	out := list[:0]
	for _, i := range list {
		if n := len(out); n > 0 && i.first <= out[n-1].last+1 {
			out[n-1].last = max(out[n-1].last, i.last)
			continue
		}
		out = append(out, i)
	}
	return out
}

// subtract returns the parts of a that no interval of b covers; both are normalized. Each list is walked once: sets of
// long-lived clusters with tags have thousands of intervals, and the planner compares all pairs.
func subtract(a, b []interval) []interval {
	var out []interval
	for _, i := range a {
		for len(b) > 0 && b[0].last < i.first {
			b = b[1:]
		}
		for _, cut := range b {
			if cut.first > i.last {
				break
			}
			if cut.first > i.first {
				out = append(out, interval{i.first, cut.first - 1})
			}
			i.first = cut.last + 1
		}
		if i.first <= i.last {
			out = append(out, i)
		}
	}
	return out
}
