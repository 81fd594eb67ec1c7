// SPDX-License-Identifier: Apache-2.0

package procid

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Record identifies one process of one boot.
type Record struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since boot, field 22 of /proc/PID/stat
	Boot  string `json:"boot"`
}

// ErrGone means that the recorded process does not exist any more.
var ErrGone = errors.New("process is gone")

// Of returns the record of a living process.
func Of(pid int) (Record, error) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrGone, err)
	}
	start, state, err := parseStat(string(stat))
	if err != nil {
		return Record{}, err
	}
	if state == "Z" {
		return Record{}, fmt.Errorf("%w: only its exit status is left", ErrGone)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Record{}, fmt.Errorf("read boot id: %w", err)
	}
	return Record{PID: pid, Start: start, Boot: strings.TrimSpace(string(boot))}, nil
}

// parseStat reads state and start time. The second field is the program's name in parentheses, which may itself hold
// spaces and parentheses; what follows the last one is regular.
func parseStat(stat string) (start uint64, state string, err error) {
	end := strings.LastIndexByte(stat, ')')
	if end < 0 {
		return 0, "", fmt.Errorf("parse process status %q: no name", stat)
	}
	fields := strings.Fields(stat[end+1:])
	const startField = 22 - 3 // The first field after the name is the third.
	if len(fields) <= startField {
		return 0, "", fmt.Errorf("parse process status %q: too short", stat)
	}
	start, err = strconv.ParseUint(fields[startField], 10, 64)
	if err != nil {
		return 0, "", fmt.Errorf("parse start time: %w", err)
	}
	return start, fields[0], nil
}

// Load reads a record; a missing file is ErrGone.
func Load(path string) (Record, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, ErrGone
	}
	if err != nil {
		return Record{}, fmt.Errorf("read process record: %w", err)
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return Record{}, fmt.Errorf("parse process record %s: %w", path, err)
	}
	return r, nil
}

// Save writes the record so that a reader never sees half of it.
func (r Record) Save(path string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode process record: %w", err)
	}
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return fmt.Errorf("write process record: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write process record: %w", err)
	}
	return nil
}

// Alive tells whether exactly this process still runs.
func (r Record) Alive() bool {
	now, err := Of(r.PID)
	return err == nil && now == r
}

// Signal sends a signal to exactly this process. The handle is taken before the record is compared, so the id cannot
// pass to another process in between.
func (r Record) Signal(sig syscall.Signal) error {
	p, err := os.FindProcess(r.PID)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	defer func() { _ = p.Release() }()
	if !r.Alive() {
		return ErrGone
	}
	if err := p.Signal(sig); err != nil {
		if errors.Is(err, os.ErrProcessDone) {
			return ErrGone
		}
		return fmt.Errorf("signal process %d: %w", r.PID, err)
	}
	return nil
}
