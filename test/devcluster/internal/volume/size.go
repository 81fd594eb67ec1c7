// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"errors"
	"fmt"
)

const (
	mebi = 1 << 20
	// DefaultSize is the size of a volume whose claim names none.
	DefaultSize = 1 << 30
	// MinSize is the smallest volume in which either file system has a journal and room.
	MinSize = 64 * mebi
	// smallXFS is the size below which mkfs.xfs wants to be told that the volume is for tests.
	smallXFS = 300 * mebi
	// MaxSize keeps a typing error from asking for more than a file system on a loop device can be.
	MaxSize = 16 << 40
)

// ErrSize means that a size cannot be had.
var ErrSize = errors.New("size out of range")

// Size chooses the size of a volume: at least required, at most limit (0: no limit), in whole MiB.
func Size(required, limit int64) (int64, error) {
	if required < 0 || limit < 0 || limit > 0 && required > limit {
		return 0, fmt.Errorf("%w: required %d, limit %d", ErrSize, required, limit)
	}
	size := required
	if size == 0 {
		size = DefaultSize
		if limit > 0 {
			size = min(size, limit)
		}
	}
	if size > MaxSize {
		return 0, fmt.Errorf("%w: %d is more than %d", ErrSize, size, int64(MaxSize))
	}
	size = max((size+mebi-1)/mebi*mebi, MinSize)
	if limit > 0 && size > limit {
		return 0, fmt.Errorf("%w: a volume has at least %d bytes in whole MiB, limit %d", ErrSize, int64(MinSize), limit)
	}
	return size, nil
}
