// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// table knows the processes that somebody waits for, so that the reaper leaves them alone.
type table struct {
	mu  *sync.Mutex
	own map[int]chan struct{} // closed when it was waited for
}

func newTable() table { return table{mu: &sync.Mutex{}, own: map[int]chan struct{}{}} }

// start holds the lock, so that a process which ends at once is in the table before the reaper looks.
func (t table) start(cmd *exec.Cmd) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	t.own[cmd.Process.Pid] = make(chan struct{})
	return nil
}

func (t table) remove(pid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.own[pid])
	delete(t.own, pid)
}

// ReapOrphans reaps processes that others left behind until ctx ends: only for a process that gets them, which PID 1
// and a child subreaper do. Everything this process starts must be started with Start.
func (s *Supervisor) ReapOrphans(ctx context.Context) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGCHLD)
	defer signal.Stop(signals)
	for {
		s.reapAll(ctx)
		select {
		case <-ctx.Done():
			return
		case <-signals:
		}
	}
}

// reapAll reaps until nothing that has ended is left. It looks at a dead child without taking it: one of our own is
// left to its waiter, which takes it within moments, and the next look sees the one behind it.
func (s *Supervisor) reapAll(ctx context.Context) {
	for {
		var info unix.Siginfo
		pid, mine, err := s.table.peek(&info)
		if err != nil || pid == 0 {
			return
		}
		if mine == nil {
			var status unix.WaitStatus
			_, _ = unix.Wait4(pid, &status, unix.WNOHANG, nil) // it is dead, and nobody else waits for it
			continue
		}
		select {
		case <-mine:
		case <-ctx.Done():
			return
		}
	}
}

func (t table) peek(info *unix.Siginfo) (pid int, mine <-chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		err = unix.Waitid(unix.P_ALL, 0, info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return 0, nil, err
	}
	pid = childOf(info)
	return pid, t.own[pid], nil
}
