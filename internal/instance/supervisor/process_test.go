// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// output collects lines.
type output struct {
	mu    sync.Mutex
	lines []string
}

func (o *output) add(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = append(o.lines, line)
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.lines, "|")
}

func shell(t *testing.T, s *Supervisor, script string, out *output) *Process {
	t.Helper()
	c := Command{Path: "sh", Args: []string{"-c", script}, Env: os.Environ()}
	if out != nil {
		c.Output = out.add
	}
	p, err := s.Start(c)
	if err != nil {
		t.Fatalf("Start() = %v", err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	return p
}

func TestOutputComesLineByLine(t *testing.T) {
	var out output
	p := shell(t, New(), `echo one; echo two >&2; printf three`, &out)
	if err := p.Err(); err != nil {
		t.Fatalf("Err() = %v", err)
	}
	if got := out.text(); got != "one|two|three" {
		t.Errorf("lines are %q", got)
	}
}

func TestStop(t *testing.T) {
	cases := map[string]struct {
		script string
		clean  bool
	}{
		"a process that ends on SIGTERM is clean":       {`trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done`, true},
		"one that ends with an error is not":            {`trap 'exit 3' TERM; echo up; while :; do sleep 0.01; done`, false},
		"one that ignores SIGTERM is killed in the end": {`trap '' TERM; echo up; while :; do sleep 0.01; done`, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			up := make(chan struct{})
			p, err := New().Start(Command{Path: "sh", Args: []string{"-c", c.script}, Env: os.Environ(), Output: func(string) { close(up) }})
			if err != nil {
				t.Fatal(err)
			}
			<-up
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			clean, err := p.Stop(ctx)
			if err != nil || clean != c.clean || p.Running() {
				t.Errorf("Stop() = %v, %v, running %v; want clean %v", clean, err, p.Running(), c.clean)
			}
		})
	}
}

func TestAProgramThatIsNotThere(t *testing.T) {
	if _, err := New().Start(Command{Path: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("Start() of nothing succeeded")
	}
}

func TestSignalAfterTheEndIsNoError(t *testing.T) {
	p := shell(t, New(), `exit 7`, nil)
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "7") {
		t.Errorf("Err() = %v, want exit status 7", err)
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("Signal() = %v", err)
	}
}

// As PID 1 the manager inherits the children of others, and must reap them without taking the ends of its own from
// those who wait for them.
func TestOrphansAreReaped(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	s := New()
	ctx, cancel := context.WithCancel(t.Context())
	var reaper sync.WaitGroup
	reaper.Go(func() { s.ReapOrphans(ctx) })
	for range 20 {
		if got, err := s.Output(ctx, "echo", "hello"); err != nil || string(got) != "hello\n" {
			t.Fatalf("Output() = %q, %v: the reaper took it", got, err)
		}
		var out output
		// The shell ends and leaves a child behind, whose pid it tells.
		p := shell(t, s, `sleep 0.05 & echo $!; exit 0`, &out)
		if err := p.Err(); err != nil {
			t.Fatalf("the end of our own process was taken: %v", err)
		}
		pid, err := strconv.Atoi(out.text())
		if err != nil {
			t.Fatalf("the child is %q", out.text())
		}
		awaitGone(t, pid)
	}
	cancel()
	if err := syscall.Kill(os.Getpid(), syscall.SIGCHLD); err != nil {
		t.Fatal(err)
	}
	reaper.Wait()
}

// awaitGone waits until not even a zombie of the process is left.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for syscall.Kill(pid, 0) == nil {
		select {
		case <-deadline.C:
			t.Fatalf("process %d is still there, perhaps as a zombie", pid)
		case <-again.C:
		}
	}
}
