// SPDX-License-Identifier: Apache-2.0

package filelock

import (
	"fmt"
	"os"
	"syscall"
)

// Take waits for the lock of a file, which it makes when it is not there, and returns what gives the lock back. The
// kernel gives it back when the process dies, so a killed one blocks nobody.
func Take(path string) (func(), error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("take lock: %w", err)
	}
	return func() { _ = f.Close() }, nil
}
