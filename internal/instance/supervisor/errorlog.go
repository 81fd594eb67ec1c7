// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"encoding/json"
	"strconv"
	"strings"
)

// LogLine is one line of mysqld's error log.
type LogLine struct {
	Priority  string // System, Error, Warning or Note; empty for a line that is not in the log's format
	Code      string // MY-010931
	Subsystem string
	Thread    int
	Message   string
}

// ParseLogLine reads a line of the error log in either of its formats, log_sink_json's or the traditional
// "time thread [Priority] [Code] [Subsystem] message". Anything else becomes the message as it is.
func ParseLogLine(line string) LogLine {
	if strings.HasPrefix(line, "{") {
		if l, ok := parseJSON(line); ok {
			return l
		}
	}
	fields := strings.SplitN(line, " ", 6)
	if len(fields) < 6 || !bracketed(fields[2]) || !bracketed(fields[3]) || !bracketed(fields[4]) {
		return LogLine{Message: line}
	}
	thread, err := strconv.Atoi(fields[1])
	if err != nil {
		return LogLine{Message: line}
	}
	return LogLine{
		Priority: priority(inner(fields[2])), Code: inner(fields[3]), Subsystem: inner(fields[4]),
		Thread: thread, Message: fields[5],
	}
}

func parseJSON(line string) (LogLine, bool) {
	var j struct {
		Label     string `json:"label"`
		Code      string `json:"err_code_str"`
		Number    int    `json:"err_code"`
		Symbol    string `json:"err_symbol"`
		Subsystem string `json:"subsystem"`
		Thread    int    `json:"thread"`
		Message   string `json:"msg"`
	}
	if err := json.Unmarshal([]byte(line), &j); err != nil || j.Message == "" {
		return LogLine{}, false
	}
	code := j.Code
	if code == "" && j.Number > 0 {
		digits := strconv.Itoa(j.Number)
		code = "MY-" + strings.Repeat("0", max(0, 6-len(digits))) + digits
	}
	return LogLine{Priority: priority(j.Label), Code: code, Subsystem: j.Subsystem, Thread: j.Thread, Message: j.Message}, true
}

func bracketed(field string) bool {
	return len(field) > 2 && field[0] == '[' && field[len(field)-1] == ']'
}

func inner(field string) string { return field[1 : len(field)-1] }

func priority(label string) string {
	if strings.EqualFold(label, "error") {
		return "Error"
	}
	return label
}
