// SPDX-License-Identifier: Apache-2.0

package supervisor

import "time"

// Limits of the wait before a process that ended by itself is started again.
const (
	backoffFirst = 100 * time.Millisecond
	backoffMost  = 30 * time.Second
	// steady is how long a process must have run for its end to count as the first.
	steady = time.Minute
)

// Backoff tells how long to wait before the next start. The first is nearly at once: a replica that crashed for once
// should be back before commits notice. Its zero value is ready.
type Backoff struct {
	next time.Duration
}

// After returns the wait after a process that ran for that long.
func (b *Backoff) After(ran time.Duration) time.Duration {
	if b.next == 0 || ran >= steady {
		b.next = backoffFirst
	}
	wait := b.next
	b.next = min(2*b.next, backoffMost)
	return wait
}
