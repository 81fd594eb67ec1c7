// SPDX-License-Identifier: Apache-2.0

package procid_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/procid"
)

func TestRecordOfLivingProcess(t *testing.T) {
	t.Parallel()
	r, err := procid.Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "self.pid")
	if err := r.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := procid.Load(path)
	if err != nil || got != r || !got.Alive() {
		t.Errorf("Load() = %+v, %v; want %+v, alive", got, err, r)
	}
}

// TestRecycledIDIsNotSignalled: the same id with another start time, or of another boot, is a stranger.
func TestRecycledIDIsNotSignalled(t *testing.T) {
	t.Parallel()
	sleeper := exec.CommandContext(t.Context(), "sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() })
	r, err := procid.Of(sleeper.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	strangers := map[string]procid.Record{
		"started later":   {PID: r.PID, Start: r.Start + 1, Boot: r.Boot},
		"of another boot": {PID: r.PID, Start: r.Start, Boot: "another"},
	}
	for name, stranger := range strangers {
		if err := stranger.Signal(syscall.SIGKILL); !errors.Is(err, procid.ErrGone) {
			t.Errorf("Signal() to a process %s = %v, want ErrGone", name, err)
		}
	}
	if !r.Alive() {
		t.Error("the stranger was killed")
	}
}

func TestDeadProcess(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), "sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	r, err := procid.Of(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // "signal: killed" is what was asked for.
	if r.Alive() {
		t.Error("Alive() after the process was killed and waited for")
	}
	if err := r.Signal(syscall.SIGTERM); !errors.Is(err, procid.ErrGone) {
		t.Errorf("Signal() = %v, want ErrGone", err)
	}
}

func TestLoadMissing(t *testing.T) {
	t.Parallel()
	if _, err := procid.Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, procid.ErrGone) {
		t.Errorf("Load() = %v, want ErrGone", err)
	}
}
