// SPDX-License-Identifier: Apache-2.0

package role

import (
	"testing"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
	"github.com/keelson-dev/mysql-operator/internal/mysql"
)

const step = 100 * time.Millisecond

func TestAnApplierThatKeepsFailingIsNotRestartedAtEachPass(t *testing.T) {
	var a trouble
	begin := time.Unix(1000, 0)
	starts := 0
	for now := begin; now.Before(begin.Add(time.Minute)); now = now.Add(step) {
		if a.failed(now, "duplicate key") {
			starts++
		}
	}
	if starts < 5 || starts > 15 {
		t.Errorf("%d starts within a minute, want a handful", starts)
	}
}

// One sighting of an error makes the operator give the replica up, so a short one must not be told, and a standing one
// must not flicker with each restart.
func TestAnApplierErrorIsToldOnceItStands(t *testing.T) {
	now := time.Unix(1000, 0)
	var m Memory
	failing := mysql.Status{Channel: mysql.Channel{Configured: true, ApplierError: "duplicate key"}}
	running := mysql.Status{Channel: mysql.Channel{Configured: true, Applier: true}}
	look := func(what string, st mysql.Status, wantRuns bool) {
		t.Helper()
		if got := m.told(now, st).Channel; got.Applier != wantRuns || (got.ApplierError == "") != wantRuns {
			t.Errorf("%s: running %v error %q, want running %v", what, got.Applier, got.ApplierError, wantRuns)
		}
	}
	look("a thread that is well", running, true)
	m.applier.failed(now, "duplicate key")
	look("at the first error", failing, true)
	now = now.Add(brokenAfter)
	if !m.applier.failed(now, "duplicate key") {
		t.Error("it is not started again after the wait")
	}
	look("just started again", running, false)
	now = now.Add(soundAfter)
	m.applier.running(now)
	look("after it ran for long", running, true)
}

func TestTheReceiverIsNotStartedAgainWhenOnlyACloneHelps(t *testing.T) {
	off := mysql.Channel{Receiver: mysql.ReceiverOff, ReceiverErrno: 1789}
	for name, c := range map[string]struct {
		channel mysql.Channel
		pointed bool
		waits   bool
	}{
		"the source has purged what is lacking":  {off, false, true},
		"it was pointed at another source since": {off, true, false},
		"it was stopped without an error":        {mysql.Channel{Receiver: mysql.ReceiverOff}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := &pass{Engine: &Engine{Memory: &Memory{pointed: c.pointed}}, st: mysql.Status{Channel: c.channel}}
			if err := p.receiverMayStart(time.Unix(1000, 0)); (err != nil) != c.waits {
				t.Errorf("receiverMayStart() = %v, want to wait: %v", err, c.waits)
			}
		})
	}
}

// An attempt that locked an account and broke off before its sessions were gone must not count as done: the session of
// a member that was dropped would go on to acknowledge.
func TestNoBarrierWhileSomebodyMustBeEvicted(t *testing.T) {
	m := &Memory{barrier: new(gtid.Set)}
	m.mustEvict([]string{"b"})
	m.toEvict.last = 7
	if _, ok := m.Barrier(); ok {
		t.Error("a barrier is told")
	}
	m.mustEvict([]string{"a", "b"})
	if got := m.toEvict; len(got.accounts) != 2 || got.last != 0 {
		t.Errorf("after a second lock: %+v, want both accounts and the ids to be read anew", got)
	}
}
