// SPDX-License-Identifier: Apache-2.0

package version

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMySQL(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want MySQL
		err  error
	}{
		"a plain version":                {text: "9.7.4", want: MySQL{9, 7, 4}},
		"what a distribution appends":    {text: "9.7.4-2", want: MySQL{9, 7, 4}},
		"a word that is appended":        {text: "8.4.6-debian", want: MySQL{8, 4, 6}},
		"a plus that is appended":        {text: "8.4.6+dfsg-1", want: MySQL{8, 4, 6}},
		"two digits":                     {text: "8.0.44", want: MySQL{8, 0, 44}},
		"a series is not a version":      {text: "9.7", err: ErrSyntax},
		"four numbers are not a version": {text: "9.7.4.0", err: ErrSyntax},
		"an empty text":                  {text: "", err: ErrSyntax},
		"an empty number":                {text: "9..4", err: ErrSyntax},
		"a sign":                         {text: "9.+7.4", err: ErrSyntax},
		"a leading zero":                 {text: "9.07.4", err: ErrSyntax},
		"a word":                         {text: "latest", err: ErrSyntax},
		"a number that is too large":     {text: "9.7.99999", err: ErrSyntax},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseMySQL(c.text)
			if !errors.Is(err, c.err) {
				t.Fatalf("ParseMySQL(%q) error = %v, want %v", c.text, err, c.err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("ParseMySQL(%q) mismatch (-want +got):\n%s", c.text, diff)
			}
		})
	}
}

func TestParseBanner(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want MySQL
		err  error
	}{
		"Debian's mysqld":     {text: "mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))\n", want: MySQL{9, 7, 4}},
		"the official image":  {text: "/usr/sbin/mysqld  Ver 8.4.6 for Linux on aarch64 (MySQL Community Server - GPL)", want: MySQL{8, 4, 6}},
		"another program":     {text: "bash, version 5.2", err: ErrSyntax},
		"nothing after Ver":   {text: "mysqld  Ver ", err: ErrSyntax},
		"no number after Ver": {text: "mysqld  Ver nine", err: ErrSyntax},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseBanner(c.text)
			if !errors.Is(err, c.err) {
				t.Fatalf("ParseBanner(%q) error = %v, want %v", c.text, err, c.err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("ParseBanner(%q) mismatch (-want +got):\n%s", c.text, diff)
			}
		})
	}
}

func TestParseImage(t *testing.T) {
	for name, c := range map[string]struct {
		image string
		want  MySQL
		ok    bool
	}{
		"a tag":                               {image: "docker.io/library/mysql:9.7.4", want: MySQL{9, 7, 4}, ok: true},
		"a tag with a suffix":                 {image: "mysql:8.0.44-bookworm", want: MySQL{8, 0, 44}, ok: true},
		"a tag and a digest":                  {image: "mysql:9.7.4@sha256:00", want: MySQL{9, 7, 4}, ok: true},
		"a registry with a port and a tag":    {image: "localhost:5000/mysql:8.4.6", want: MySQL{8, 4, 6}, ok: true},
		"a registry with a port and no tag":   {image: "localhost:5000/mysql"},
		"a digest alone":                      {image: "mysql@sha256:00"},
		"the tag latest":                      {image: "mysql:latest"},
		"a tag that names only a series":      {image: "mysql:9.7"},
		"a tag that begins with a word":       {image: "db:v9.7.4"},
		"a tag of another numbering, 4 parts": {image: "percona:8.4.6.1"},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := ParseImage(c.image)
			if ok != c.ok || got != c.want {
				t.Errorf("ParseImage(%q) = %v, %v, want %v, %v", c.image, got, ok, c.want, c.ok)
			}
		})
	}
}

func TestSupported(t *testing.T) {
	for name, c := range map[string]struct {
		version MySQL
		want    string
	}{
		"the older LTS":       {version: MySQL{8, 4, 0}},
		"the newer LTS":       {version: MySQL{9, 7, 4}},
		"the end of life":     {version: MySQL{8, 0, 44}, want: MessageEndOfLife},
		"an innovation":       {version: MySQL{9, 6, 0}, want: MessageUnknownSeries},
		"a series to come":    {version: MySQL{10, 0, 0}, want: MessageUnknownSeries},
		"a series long ago":   {version: MySQL{5, 7, 44}, want: MessageUnknownSeries},
		"the zero value":      {want: MessageUnknownSeries},
		"a look-alike series": {version: MySQL{9, 70, 1}, want: MessageUnknownSeries},
	} {
		t.Run(name, func(t *testing.T) {
			err := Supported(c.version)
			if c.want == "" {
				if err != nil {
					t.Fatalf("Supported(%v) = %v, want nil", c.version, err)
				}
				return
			}
			if !errors.Is(err, ErrUnsupported) || err.Error() != c.want {
				t.Errorf("Supported(%v) = %v, want %q wrapping ErrUnsupported", c.version, err, c.want)
			}
		})
	}
}

func TestEverySupportedSeriesIsSupported(t *testing.T) {
	for _, series := range SupportedSeries() {
		v, err := ParseMySQL(series + ".3")
		if err != nil {
			t.Fatal(err)
		}
		if err := Supported(v); err != nil || v.Series() != series {
			t.Errorf("Supported(%v) = %v, series %s, want nil, %s", v, err, v.Series(), series)
		}
	}
}

func TestCompareOrdersByMajorThenMinorThenPatch(t *testing.T) {
	got := []MySQL{{9, 7, 10}, {8, 4, 6}, {9, 7, 4}, {8, 0, 44}, {9, 10, 0}}
	slices.SortFunc(got, MySQL.Compare)
	want := []MySQL{{8, 0, 44}, {8, 4, 6}, {9, 7, 4}, {9, 7, 10}, {9, 10, 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sorted mismatch (-want +got):\n%s", diff)
	}
}

func FuzzParseMySQL(f *testing.F) {
	for _, seed := range []string{"9.7.4", "8.4.6-debian", "9.7.4+x", "", "..", "65535.0.0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseMySQL(text)
		if err != nil {
			return
		}
		again, err := ParseMySQL(v.String())
		if err != nil || again != v {
			t.Errorf("ParseMySQL(%q) = %v, which reads back as %v, %v", text, v, again, err)
		}
	})
}
