// SPDX-License-Identifier: Apache-2.0

package version

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrSyntax means that a text is not a MySQL version.
var ErrSyntax = errors.New("not a MySQL version")

// ErrUnsupported is wrapped by every error of Supported.
var ErrUnsupported = errors.New("unsupported MySQL version")

// MySQL is a version of the MySQL server.
type MySQL struct {
	Major, Minor, Patch int
}

// ParseMySQL reads a full version, with or without what a distribution appends: 9.7.4, 8.4.6-debian, 9.7.4-2.
func ParseMySQL(text string) (MySQL, error) {
	number, _, _ := strings.Cut(text, "-")
	number, _, _ = strings.Cut(number, "+")
	parts := strings.Split(number, ".")
	if len(parts) != 3 {
		return MySQL{}, fmt.Errorf("%w: %q has not the form 9.7.4", ErrSyntax, text)
	}
	var n [3]int
	for i, part := range parts {
		value, err := strconv.ParseUint(part, 10, 16)
		if err != nil || strconv.FormatUint(value, 10) != part {
			return MySQL{}, fmt.Errorf("%w: %q has not the form 9.7.4", ErrSyntax, text)
		}
		n[i] = int(value)
	}
	return MySQL{Major: n[0], Minor: n[1], Patch: n[2]}, nil
}

// ParseBanner reads what `mysqld --version` prints: "mysqld  Ver 9.7.4-2 for Linux on x86_64 (…)".
func ParseBanner(text string) (MySQL, error) {
	_, rest, found := strings.Cut(text, " Ver ")
	fields := strings.Fields(rest)
	if !found || len(fields) == 0 {
		return MySQL{}, fmt.Errorf("%w: %q has no word after Ver", ErrSyntax, text)
	}
	return ParseMySQL(fields[0])
}

// ParseImage reads the version from the tag of an image reference; ok is false for an image that does not tell,
// such as one with a digest alone, the tag latest, or a tag that does not begin with a full version.
func ParseImage(image string) (v MySQL, ok bool) {
	image, _, _ = strings.Cut(image, "@")
	// A colon before the last slash belongs to the port of a registry.
	name := image[strings.LastIndexByte(image, '/')+1:]
	_, tag, found := strings.Cut(name, ":")
	if !found {
		return MySQL{}, false
	}
	v, err := ParseMySQL(tag)
	return v, err == nil
}

// String returns the version as it is written in spec.version.
func (v MySQL) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// Series returns the release series, for example "9.7". Within a series data files stay compatible.
func (v MySQL) Series() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Compare is negative when v is older than o, positive when it is newer.
func (v MySQL) Compare(o MySQL) int {
	return cmp.Or(cmp.Compare(v.Major, o.Major), cmp.Compare(v.Minor, o.Minor), cmp.Compare(v.Patch, o.Patch))
}

// SupportedSeries returns the series that this operator runs, oldest first.
func SupportedSeries() []string { return []string{"8.4", "9.7"} }

// Messages of refused versions, the same in the CEL rules of the API.
const (
	MessageEndOfLife     = "MySQL 8.0 is at its end of life and not supported: use a version of series 8.4 or 9.7"
	MessageUnknownSeries = "version must be a full version of a supported series, 8.4.x or 9.7.x, for example 9.7.4"
)

// Supported returns nil for a version that this operator runs, else an error whose text says what to use. It wraps
// ErrUnsupported.
func Supported(v MySQL) error {
	switch v.Series() {
	case "8.4", "9.7":
		return nil
	case "8.0":
		return refusal(MessageEndOfLife)
	}
	return refusal(MessageUnknownSeries)
}

// refusal is an error whose whole text is a sentence for the user.
type refusal string

func (r refusal) Error() string { return string(r) }

func (refusal) Is(target error) bool { return target == ErrUnsupported }
