// SPDX-License-Identifier: Apache-2.0

package mycnf

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/keelson-dev/mysql-operator/internal/version"
)

var (
	// ErrOwned means that the settings name a variable that the operator owns.
	ErrOwned = errors.New("the operator owns this variable")
	// ErrSetting means that a key or value of the settings cannot be written to my.cnf.
	ErrSetting = errors.New("bad setting")
	// ErrSeries means that the settings are for another series than the mysqld at hand.
	ErrSeries = errors.New("settings are for another MySQL series")
)

// Settings is what the ConfigMap of a cluster holds: what the user asked of mysqld.
type Settings struct {
	// Version is spec.version, empty where spec.image names the image.
	Version string `json:"version"`
	// Config is spec.mysql.config.
	Config map[string]string `json:"config,omitempty"`
}

const (
	maxKey   = 80
	maxValue = 1024
	// maxLine: mysqld reads option files through a buffer of 4096 bytes and would take the rest for a line of its own.
	maxLine = 4000
)

// ValidKey tells whether a key can be a variable's name as mysql.config writes it.
func ValidKey(key string) bool {
	if key == "" || len(key) > maxKey || key[0] < 'a' || key[0] > 'z' {
		return false
	}
	return strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789_.") == ""
}

// ValidValue tells whether a value is one line that mysqld can read back.
func ValidValue(value string) bool {
	if len([]rune(value)) > maxValue || maxKey+len(" = ")+len(quote(value)) > maxLine {
		return false
	}
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// check refuses what validation should have refused before; the settings may have been edited by hand.
func (s Settings) check(running version.MySQL) error {
	if s.Version != "" {
		v, err := version.ParseMySQL(s.Version)
		if err != nil {
			return fmt.Errorf("read version of settings: %w", err)
		}
		if v.Series() != running.Series() {
			return fmt.Errorf("%w: %s, but mysqld is %s", ErrSeries, v.Series(), running)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.Config)) {
		switch {
		case !ValidKey(key):
			return fmt.Errorf("%w: key %q", ErrSetting, key)
		case Owned(key):
			return fmt.Errorf("%w: %s", ErrOwned, key)
		case !ValidValue(s.Config[key]):
			return fmt.Errorf("%w: value of %s", ErrSetting, key)
		}
	}
	return nil
}

// bare is what needs no quotes in an option file.
const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:/+-@%"

// quote writes a value so that mysqld reads exactly it: unquoted, '#' would begin a comment and "\n" be a new line.
func quote(value string) string {
	if value != "" && strings.Trim(value, bare) == "" {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`).Replace(value) + `"`
}
