// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/version"
)

func validateVersion(s *mysqlv1.MySQLClusterSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.Version == "" && s.Image == "" {
		errs = append(errs, field.Required(path.Child("version"), messageNoVersion))
	}
	if s.Version != "" {
		if message := versionMessage(s.Version); message != "" {
			errs = append(errs, field.Invalid(path.Child("version"), s.Version, message))
		}
	}
	switch series := imageSeries(s.Image); {
	case series == "8.0":
		errs = append(errs, field.Invalid(path.Child("image"), s.Image, messageImageEndOfLife))
	case series != "" && !slices.Contains(version.SupportedSeries(), series):
		errs = append(errs, field.Invalid(path.Child("image"), s.Image, messageImageSeries))
	}
	return errs
}

// versionMessage returns why a version is refused; "8.0" alone is told of its end of life too, as a full one is.
func versionMessage(text string) string {
	if text == "8.0" || strings.HasPrefix(text, "8.0.") {
		return version.MessageEndOfLife
	}
	v, err := version.ParseMySQL(text)
	if err != nil || v.String() != text || version.Supported(v) != nil {
		return version.MessageUnknownSeries
	}
	return ""
}

// imageSeries returns the series that the tag of an image tells, or "". Only images called mysql or mysql-server are
// asked: others have a numbering of their own, and what they hold is known when their mysqld runs.
func imageSeries(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name, tag, _ := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	if name != "mysql" && name != "mysql-server" {
		return ""
	}
	major, rest, found := strings.Cut(tag, ".")
	minor := rest[:len(rest)-len(strings.TrimLeft(rest, digits))]
	if !found || minor == "" || !consistsOf(major, digits) {
		return ""
	}
	return major + "." + minor
}

// seriesOf returns the series that a spec asks for, or "" where only the image knows.
func seriesOf(s *mysqlv1.MySQLClusterSpec) string {
	if s.Image != "" {
		if series := imageSeries(s.Image); series != "" {
			return series
		}
	}
	if v, err := version.ParseMySQL(s.Version); err == nil {
		return v.Series()
	}
	return ""
}

const digits = "0123456789"

// consistsOf tells whether a text is not empty and has only the given characters.
func consistsOf(text, characters string) bool {
	return text != "" && strings.Trim(text, characters) == ""
}
