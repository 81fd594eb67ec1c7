// SPDX-License-Identifier: Apache-2.0

package nodeinit

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// goFD is the descriptor on which a new machine waits for its network.
const goFD = 3

// Pending is a machine whose first process exists and waits.
type Pending struct {
	PID int
	cmd *exec.Cmd
	pen *os.File
}

// Start creates the namespaces and the first process of a machine; executable must be this program. The machine does
// nothing until Go is called, and ends by itself when the caller dies before that: an interrupted start leaves no
// process that nobody has a record of.
func Start(executable, config, log string) (*Pending, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open machine log: %w", err)
	}
	defer func() { _ = out.Close() }()
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("create pipe: %w", err)
	}
	defer func() { _ = reader.Close() }()
	cmd := exec.Command(executable, "init", config) //nolint:noctx // The machine outlives the command that starts it.
	cmd.Stdout, cmd.Stderr = out, out
	cmd.ExtraFiles = []*os.File{reader} // becomes goFD
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC,
	}
	if err := cmd.Start(); err != nil {
		_ = writer.Close()
		return nil, fmt.Errorf("start machine: %w", err)
	}
	return &Pending{PID: cmd.Process.Pid, cmd: cmd, pen: writer}, nil
}

// Go lets the machine start its programs.
func (p *Pending) Go() error {
	defer func() { _ = p.pen.Close() }()
	if _, err := p.pen.Write([]byte{1}); err != nil {
		return fmt.Errorf("release machine: %w", err)
	}
	return p.cmd.Process.Release()
}

// Abandon ends a machine that was not released.
func (p *Pending) Abandon() {
	_ = p.pen.Close()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}
