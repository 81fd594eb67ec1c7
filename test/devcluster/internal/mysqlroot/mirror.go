// SPDX-License-Identifier: Apache-2.0

package mysqlroot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoMirror means that apt is not configured with a mirror of Debian.
var ErrNoMirror = errors.New("no Debian mirror in apt's sources")

// Mirror returns the address of the Debian mirror that the machine's own apt uses. It is never written down here.
func Mirror(apt string) (string, error) {
	files, _ := filepath.Glob(filepath.Join(apt, "sources.list.d", "*"))
	for _, file := range append([]string{filepath.Join(apt, "sources.list")}, files...) {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // sources.list is missing on newer machines.
		}
		if mirror, ok := mirrorIn(file, string(text)); ok {
			return mirror, nil
		}
	}
	return "", fmt.Errorf("%w: %s", ErrNoMirror, apt)
}

func mirrorIn(file, text string) (string, bool) {
	if strings.HasSuffix(file, ".sources") {
		return mirrorInStanzas(text)
	}
	for line := range strings.Lines(text) {
		fields := strings.Fields(withoutOptions(line))
		if len(fields) >= 4 && fields[0] == "deb" && isDebian(fields[1], fields[2], fields[3:]) {
			return fields[1], true
		}
	}
	return "", false
}

// mirrorInStanzas reads the deb822 form: paragraphs of "Key: value".
func mirrorInStanzas(text string) (string, bool) {
	for stanza := range strings.SplitSeq(text, "\n\n") {
		keys := map[string]string{}
		for line := range strings.Lines(stanza) {
			if key, value, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "#") {
				keys[strings.ToLower(key)] = strings.TrimSpace(value)
			}
		}
		uris, suites := strings.Fields(keys["uris"]), strings.Fields(keys["suites"])
		if len(uris) > 0 && len(suites) > 0 && isDebian(uris[0], suites[0], strings.Fields(keys["components"])) {
			return uris[0], true
		}
	}
	return "", false
}

// isDebian tells the archive of Debian itself from the security archive and from other vendors' archives.
func isDebian(uri, suite string, components []string) bool {
	path := strings.TrimSuffix(uri, "/")
	return strings.HasSuffix(path, "/debian") && !strings.HasSuffix(suite, "-security") && len(components) > 0 && components[0] == "main"
}

func withoutOptions(line string) string {
	before, rest, ok := strings.Cut(line, "[")
	if !ok {
		return line
	}
	_, after, _ := strings.Cut(rest, "]")
	return before + after
}
