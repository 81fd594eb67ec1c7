// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Command is what to run.
type Command struct {
	Path string
	Args []string
	Env  []string
	Dir  string
	// Output gets standard output and standard error, line by line, until the process has ended.
	Output func(line string)
}

// Process is one that was started. It is waited for, whether anybody asks or not.
type Process struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error // valid after ended is closed
}

// Supervisor starts processes and knows which are its own.
type Supervisor struct {
	table table
}

// New returns a Supervisor without processes.
func New() *Supervisor { return &Supervisor{table: newTable()} }

// Start starts a process. It gets SIGKILL if this process dies: a mysqld without its manager would serve without
// anybody to fence it.
func (s *Supervisor) Start(c Command) (*Process, error) {
	p := &Process{ended: make(chan struct{})}
	path, err := exec.LookPath(c.Path)
	if err != nil {
		return nil, fmt.Errorf("find program: %w", err)
	}
	// Not bound to a context: it is ended by Stop and Kill, in the order that its role demands.
	p.cmd = &exec.Cmd{Path: path, Args: append([]string{c.Path}, c.Args...), Env: c.Env, Dir: c.Dir}
	// A group of its own: a signal to the manager's group is the manager's to pass on, in its own order.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	lines := newLineWriter(c.Output)
	p.cmd.Stdout, p.cmd.Stderr = lines, lines
	// What a grandchild holds open must not keep the end of the process from being seen.
	p.cmd.WaitDelay = time.Second
	started := make(chan error)
	go s.run(p, lines, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	return p, nil
}

// Output runs a short program to its end and returns what it printed. It is in the reaper's table like every other
// process: as PID 1 the reaper would take it from under a plain exec, whose wait then fails ("no child processes").
func (s *Supervisor) Output(ctx context.Context, path string, args ...string) ([]byte, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // the instance's own mysqld
	cmd.Stdout = &out
	if err := s.table.start(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	defer s.table.remove(cmd.Process.Pid)
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("run %s: %w", path, err)
	}
	return out.Bytes(), nil
}

// run starts the process and waits for it on one thread, which it never gives back: the kernel sends the death signal
// when the thread that started the process ends, and Go ends idle threads as it likes.
func (s *Supervisor) run(p *Process, lines io.Closer, started chan<- error) {
	runtime.LockOSThread()
	err := s.table.start(p.cmd)
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	_ = lines.Close() // flushes the last line; it cannot fail
	s.table.remove(p.cmd.Process.Pid)
	close(p.ended)
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ended is closed once the process has ended and was reaped.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Running tells whether it has not ended yet.
func (p *Process) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Err returns how the process ended: nil for exit status 0. It waits for the end.
func (p *Process) Err() error {
	<-p.ended
	if errors.Is(p.err, exec.ErrWaitDelay) {
		return nil
	}
	return p.err
}

// Signal sends a signal; a process that has ended is no error.
func (p *Process) Signal(signal os.Signal) error {
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal process %d: %w", p.PID(), err)
	}
	return nil
}

// Kill sends SIGKILL and waits for the end.
func (p *Process) Kill() error {
	err := p.Signal(syscall.SIGKILL)
	if err == nil {
		<-p.ended
	}
	return err
}

// Stop sends SIGTERM and waits for the end; when ctx ends first, SIGKILL. clean tells that SIGKILL was not needed.
func (p *Process) Stop(ctx context.Context) (clean bool, err error) {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return false, err
	}
	select {
	case <-p.ended:
		return p.err == nil || errors.Is(p.err, exec.ErrWaitDelay), nil
	case <-ctx.Done():
		return false, p.Kill()
	}
}
