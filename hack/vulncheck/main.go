// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// message is the part of govulncheck's stream that matters here.
type message struct {
	OSV *struct {
		ID      string `json:"id"`
		Summary string `json:"summary"`
	} `json:"osv"`
	Finding *finding `json:"finding"`
}

type finding struct {
	OSV          string  `json:"osv"`
	FixedVersion string  `json:"fixed_version"`
	Trace        []frame `json:"trace"`
}

type frame struct {
	Module   string `json:"module"`
	Version  string `json:"version"`
	Package  string `json:"package"`
	Function string `json:"function"`
}

func main() {
	if err := run(os.Stdin, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "vulncheck:", err)
		os.Exit(1)
	}
}

func run(input io.Reader, output io.Writer, arguments []string) error {
	if len(arguments) != 1 {
		return errors.New("usage: govulncheck -format json ./... | vulncheck ACCEPTED-FILE")
	}
	content, err := os.ReadFile(arguments[0])
	if err != nil {
		return fmt.Errorf("read accepted vulnerabilities: %w", err)
	}
	accepted, err := parseAccepted(string(content))
	if err != nil {
		return err
	}
	reached, err := parseReport(input)
	if err != nil {
		return err
	}

	return judge(output, reached, accepted)
}

// parseAccepted reads lines of an identifier and a reason; # begins a comment.
func parseAccepted(text string) (map[string]string, error) {
	accepted := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, reason, _ := strings.Cut(line, " ")
		if reason = strings.TrimSpace(reason); reason == "" {
			return nil, fmt.Errorf("accepted vulnerability %s has no reason", id)
		}
		accepted[id] = reason
	}

	return accepted, nil
}

// parseReport returns one line for each vulnerability that the code reaches, by identifier.
func parseReport(input io.Reader) (map[string]string, error) {
	summaries, reached := map[string]string{}, map[string]string{}
	complete := false
	for decoder := json.NewDecoder(input); ; {
		var m message
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("decode report: %w", err)
		}
		complete = true
		if m.OSV != nil {
			summaries[m.OSV.ID] = m.OSV.Summary
		}
		// The first frame names a function only where a call was found.
		if f := m.Finding; f != nil && len(f.Trace) > 0 && f.Trace[0].Function != "" {
			where := f.Trace[0]
			reached[f.OSV] = fmt.Sprintf("%s: %s: found in %s@%s, fixed in %s, reached through %s",
				f.OSV, summaries[f.OSV], where.Package, where.Version, f.FixedVersion, where.Function)
		}
	}
	if !complete {
		return nil, errors.New("the report is empty: govulncheck did not run")
	}

	return reached, nil
}

func judge(output io.Writer, reached, accepted map[string]string) error {
	var refused []string
	for _, id := range slices.Sorted(maps.Keys(reached)) {
		reason, known := accepted[id]
		if !known {
			refused = append(refused, reached[id])
			continue
		}
		_, _ = fmt.Fprintf(output, "accepted: %s: %s\n", id, reason)
	}
	if len(refused) > 0 {
		return fmt.Errorf("the code reaches %d vulnerabilities:\n%s", len(refused), strings.Join(refused, "\n"))
	}
	_, _ = fmt.Fprintln(output, "vulncheck: nothing that is not accepted")

	return nil
}
