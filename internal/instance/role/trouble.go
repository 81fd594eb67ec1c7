// SPDX-License-Identifier: Apache-2.0

package role

import "time"

const (
	// retryFirst and retryMost bound the wait before a replication thread that ended with an error is started again.
	retryFirst = 200 * time.Millisecond
	retryMost  = 10 * time.Second
	// soundAfter is how long a thread must run without an error for the error before it to be over.
	soundAfter = 5 * time.Second
	// brokenAfter is how long an error must stand until others hear of it. They give up a replica that cannot apply,
	// and an error that goes away by itself (a lock, a full disk) must not cost it its data.
	brokenAfter = 10 * time.Second
)

// trouble follows a replication thread that ends with errors. Its zero value is a thread that is well.
type trouble struct {
	since   time.Time // of the first error; zero: it is well
	wait    time.Duration
	next    time.Time // not started again before
	started time.Time // last started again by us; zero: it stands still
	text    string    // of the last error
}

// failed notes that the thread stands still with an error, and tells whether it may be started again now.
func (t *trouble) failed(now time.Time, text string) (again bool) {
	t.text = text
	if t.since.IsZero() {
		t.since, t.wait, t.next = now, retryFirst, now.Add(retryFirst)
	}
	if !t.started.IsZero() {
		t.started = time.Time{}
		t.wait = min(2*t.wait, retryMost)
		t.next = now.Add(t.wait)
	}
	if now.Before(t.next) {
		return false
	}
	t.started = now
	return true
}

// running notes that it runs.
func (t *trouble) running(now time.Time) {
	if t.since.IsZero() {
		return
	}
	if t.started.IsZero() {
		t.started = now
	}
	if now.Sub(t.started) >= soundAfter {
		*t = trouble{}
	}
}

// standing tells whether there was an error lately.
func (t *trouble) standing() bool { return !t.since.IsZero() }

// broken tells whether the error has stood for so long that others must hear of it.
func (t *trouble) broken(now time.Time) bool { return t.standing() && now.Sub(t.since) >= brokenAfter }
