// SPDX-License-Identifier: Apache-2.0

package imagenames

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// File is the list, relative to the checkout's root.
const File = "make/images.mk"

// Names are the names of the images that the development cluster makes.
type Names struct {
	Operator string
	MySQL    string
	Pause    string
}

var reference = regexp.MustCompile(`\$\((\w+)\)`)

// Read reads the list of the checkout at root. Values of override win, as they do in make.
func Read(root string, override map[string]string) (Names, error) {
	text, err := os.ReadFile(filepath.Join(root, File))
	if err != nil {
		return Names{}, fmt.Errorf("read image names: %w", err)
	}
	values := parse(string(text), override)
	n := Names{Operator: values["OPERATOR_IMAGE"], MySQL: values["MYSQL_IMAGE"], Pause: values["PAUSE_IMAGE"]}
	if n.Operator == "" || n.MySQL == "" || n.Pause == "" {
		return Names{}, fmt.Errorf("read image names: %s lacks OPERATOR_IMAGE, MYSQL_IMAGE or PAUSE_IMAGE", File)
	}
	return n, nil
}

func parse(text string, override map[string]string) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, "?=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		key = strings.TrimSpace(key)
		if own := override[key]; own != "" {
			value = own
		}
		values[key] = reference.ReplaceAllStringFunc(strings.TrimSpace(value), func(r string) string {
			return values[reference.FindStringSubmatch(r)[1]]
		})
	}
	return values
}
