// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"bytes"
	"sync"
)

// maxLine bounds a line kept in memory; a longer one is handed on in parts.
const maxLine = 64 << 10

// lineWriter hands on what is written, line by line.
type lineWriter struct {
	mu   sync.Mutex
	out  func(string)
	rest []byte
}

func newLineWriter(out func(string)) *lineWriter {
	if out == nil {
		out = func(string) {}
	}
	return &lineWriter{out: out}
}

// Write takes any part of the output.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest = append(w.rest, p...)
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 && len(w.rest) < maxLine {
			return len(p), nil
		}
		if i < 0 {
			i = len(w.rest) - 1
		}
		w.out(string(bytes.TrimRight(w.rest[:i+1], "\r\n")))
		w.rest = w.rest[i+1:]
	}
}

// Close hands on a last line without an end.
func (w *lineWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) > 0 {
		w.out(string(w.rest))
		w.rest = nil
	}
	return nil
}
