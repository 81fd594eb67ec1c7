// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// event is the part of a line of `go test -json` that matters here.
type event struct {
	Action     string `json:"Action"`
	Package    string `json:"Package"`
	ImportPath string `json:"ImportPath"`
	Test       string `json:"Test"`
	Output     string `json:"Output"`
}

// test names one test of one package.
type test struct{ pkg, name string }

// tally is what has been read so far.
type tally struct {
	passed, failed, skipped []test
	failedPackages          map[string]bool
	output                  map[test]string
}

func main() {
	ok, err := run(os.Stdout, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "testcount:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(output io.Writer, arguments []string) (bool, error) {
	var steps []string
	flags := flag.NewFlagSet("testcount", flag.ContinueOnError)
	flags.Func("failed", "name of a step that failed; may be repeated", func(name string) error {
		steps = append(steps, name)

		return nil
	})
	if err := flags.Parse(arguments); err != nil {
		return false, err
	}
	t := tally{failedPackages: map[string]bool{}, output: map[test]string{}}
	var broken error
	for _, name := range flags.Args() {
		broken = errors.Join(broken, t.readFile(name))
	}
	if broken != nil {
		steps = append(steps, "read the results: "+broken.Error())
	}

	return t.report(output, steps)
}

func (t *tally) readFile(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("open results: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read

	return t.read(file)
}

func (t *tally) read(input io.Reader) error {
	for decoder := json.NewDecoder(input); ; {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			// A run that was killed leaves half a line; what came before it counts.
			return fmt.Errorf("decode results: %w", err)
		}
		t.add(e)
	}
}

func (t *tally) add(e event) {
	one := test{pkg: e.Package, name: e.Test}
	switch {
	case e.Action == "output":
		t.output[one] += e.Output
	case e.Action == "build-fail":
		t.failedPackages[e.ImportPath] = true
	case e.Test == "" && e.Action == "fail":
		t.failedPackages[e.Package] = true
	case e.Test == "":
	case e.Action == "pass":
		t.passed = append(t.passed, one)
	case e.Action == "fail":
		t.failed = append(t.failed, one)
	case e.Action == "skip":
		t.skipped = append(t.skipped, one)
	}
}

// report prints the outcome and says whether everything is well.
func (t *tally) report(output io.Writer, steps []string) (bool, error) {
	var lines []string
	for _, one := range t.skipped {
		lines = append(lines, fmt.Sprintf("SKIPPED %s %s: %s", one.pkg, one.name, reason(t.output[one])))
	}
	failures := len(t.failed) + len(steps)
	for _, one := range t.failed {
		lines = append(lines, fmt.Sprintf("FAILED  %s %s", one.pkg, one.name))
		delete(t.failedPackages, one.pkg)
	}
	for pkg := range t.failedPackages {
		failures++
		lines = append(lines, fmt.Sprintf("FAILED  %s (did not build, or its process died)", pkg))
	}
	slices.Sort(lines)
	for _, step := range steps {
		lines = append(lines, "FAILED  step: "+step)
	}
	lines = append(lines, fmt.Sprintf("%d passed, %d failed, %d skipped", len(t.passed), failures, len(t.skipped)))
	_, err := fmt.Fprintln(output, strings.Join(lines, "\n"))

	return failures == 0 && len(t.passed) > 0, err
}

// reason is what a skipped test said last before it was skipped.
func reason(output string) string {
	said := "no reason given"
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			said = line
		}
	}

	return said
}
