// SPDX-License-Identifier: Apache-2.0

package gtid

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ErrSyntax is wrapped by every error of Parse.
var ErrSyntax = errors.New("bad GTID set")

const maxTagLength = 32

// Parse reads a GTID set as the server accepts it: white space anywhere between tokens, upper case, overlapping and
// unordered intervals, repeated UUIDs and empty members are all allowed. What the server takes but never writes is
// refused, since a set that means nothing is a mistake of whoever wrote it: a UUID or tag without an interval, an
// interval that ends before it begins, a UUID in braces or without dashes. The error wraps ErrSyntax and names the part.
func Parse(text string) (Set, error) {
	sources := map[source][]interval{}
	for member := range strings.SplitSeq(text, ",") {
		member = strings.TrimSpace(member)
		if member == "" {
			continue
		}
		if err := parseMember(member, sources); err != nil {
			return Set{}, fmt.Errorf("%w: %q: %w", ErrSyntax, member, err)
		}
	}
	for src, list := range sources {
		sources[src] = normalize(list)
	}
	return newSet(sources), nil
}

// MustParse is Parse for literals in tests; it panics on an error.
func MustParse(text string) Set {
	s, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return s
}

// UnmarshalText reads the text that MarshalText wrote.
func (s *Set) UnmarshalText(text []byte) error {
	set, err := Parse(string(text))
	if err != nil {
		return err
	}
	*s = set
	return nil
}

// parseMember reads "uuid:interval…:tag:interval…" into sources.
func parseMember(member string, sources map[source][]interval) error {
	head, rest, found := strings.Cut(member, ":")
	if !found {
		return errors.New("no interval follows the UUID")
	}
	uuid, err := parseUUID(strings.TrimSpace(head))
	if err != nil {
		return err
	}
	src, pending := source{uuid: uuid}, true
	for part := range strings.SplitSeq(rest, ":") {
		part = strings.ToLower(strings.TrimSpace(part))
		if isTag(part) {
			if pending && src.tag != "" {
				return fmt.Errorf("no interval follows the tag %q", src.tag)
			}
			src, pending = source{uuid: uuid, tag: part}, true
			continue
		}
		i, err := parseInterval(part)
		if err != nil {
			return err
		}
		sources[src] = append(sources[src], i)
		pending = false
	}
	if pending {
		return errors.New("no interval follows the UUID or tag")
	}
	return nil
}

func parseInterval(text string) (interval, error) {
	low, high, isRange := strings.Cut(text, "-")
	first, err := parseNumber(low)
	if err != nil {
		return interval{}, err
	}
	if !isRange {
		return interval{first, first}, nil
	}
	last, err := parseNumber(high)
	if err != nil {
		return interval{}, err
	}
	if last < first {
		return interval{}, fmt.Errorf("interval %q ends before it begins", text)
	}
	return interval{first, last}, nil
}

// parseNumber reads 1 … 2^63-2, the server's range.
func parseNumber(text string) (int64, error) {
	text = strings.TrimSpace(text)
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 || n == math.MaxInt64 {
		return 0, fmt.Errorf("%q is not a transaction number", text)
	}
	return int64(n), nil
}

// parseUUID accepts 32 hexadecimal digits with the dashes of 8-4-4-4-12, in any case.
func parseUUID(text string) (string, error) {
	text = strings.ToLower(text)
	if len(text) != 36 {
		return "", fmt.Errorf("%q is not a UUID", text)
	}
	for i := range len(text) {
		c := text[i]
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !isHex(c) {
			return "", fmt.Errorf("%q is not a UUID", text)
		}
	}
	return text, nil
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// isTag: a letter or underscore, then letters, digits and underscores, at most 32 in all.
func isTag(text string) bool {
	if text == "" || len(text) > maxTagLength {
		return false
	}
	for i := range len(text) {
		c := text[i]
		letter := 'a' <= c && c <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}
