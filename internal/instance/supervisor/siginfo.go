// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// childOf returns si_pid of a siginfo that waitid filled in, 0 when no child has ended. The library leaves that part
// of the structure unnamed; after the three leading integers it is aligned as the kernel's union is (sigaction(2)).
func childOf(info *unix.Siginfo) int {
	type child struct {
		signo, errno, code int32
		_                  [unsafe.Sizeof(uintptr(0)) - 4]byte
		pid                int32
	}
	return int((*child)(unsafe.Pointer(info)).pid) //nolint:gosec // the layout is the kernel's ABI
}
