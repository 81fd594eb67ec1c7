// SPDX-License-Identifier: Apache-2.0

package nodeinit

import (
	"os"
	"syscall"
)

// forkExec starts a program without os/exec: process 1 waits for all children with one wait4, which would steal the
// exit status from under os/exec.
func forkExec(service Service, in, out *os.File) (int, error) {
	return syscall.ForkExec(service.Args[0], service.Args, &syscall.ProcAttr{
		Dir:   "/",
		Env:   append(os.Environ(), service.Env...),
		Files: []uintptr{in.Fd(), out.Fd(), out.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
}
