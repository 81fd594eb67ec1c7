// SPDX-License-Identifier: Apache-2.0

package role

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/mysql"
)

// erAccessDenied and erAccountLocked are what a receiver gets whose password or lock is not right yet.
const (
	erAccessDenied  = 1045
	erAccountLocked = 3118
)

// stopServing closes a former primary and switches its source side off: a replica's applier would wait for
// acknowledgements (F7). It does so only when no commit waits; releasing one would acknowledge it.
func (p *pass) stopServing() error {
	p.Memory.opened, p.Memory.admitted, p.Memory.barrier = false, nil, nil
	if !p.st.SuperReadOnly {
		err := p.did(p.DB.SetReadOnly)
		if errors.Is(err, mysql.ErrTimeout) {
			return fmt.Errorf("%w: a commit waits for an acknowledgement, and only the end of the process frees it: %w", ErrStuck, err)
		}
		if err != nil {
			return err
		}
	}
	if !p.st.SourceEnabled {
		return nil
	}
	if p.st.WaitSessions > 0 {
		return fmt.Errorf("%w: %d commits wait for an acknowledgement", ErrStuck, p.st.WaitSessions)
	}
	return p.did(func(ctx context.Context) error { return p.DB.WaitForAcks(ctx, 0) })
}

// lockAll locks every replication account: nobody follows a replica, and at a promotion no session can pre-date the
// unlocking (F9). After a start they are locked already, by the init file.
func (p *pass) lockAll() error {
	var unlocked []string
	for _, a := range p.st.Accounts {
		if !a.Locked {
			unlocked = append(unlocked, a.Name)
		}
	}
	if len(unlocked) == 0 {
		return p.evict()
	}
	p.Memory.mustEvict(unlocked)
	if err := p.did(func(ctx context.Context) error { return p.DB.Lock(ctx, unlocked) }); err != nil {
		return p.stuckBehindCommit(err)
	}
	return p.evict()
}

// apply keeps the applier running; it comes before the receiver, which may be re-pointed only then (A5d).
func (p *pass) apply(want Replica) error {
	switch {
	case !p.st.Channel.Configured:
		return nil
	case want.Lent && p.st.Channel.Applier:
		// A pass that was under way when the donor was lent may have started it again.
		return p.did(p.DB.StopApplier)
	case want.Lent:
		return nil
	}
	return p.keepApplying()
}

// keepApplying starts the applier when it stands still, ever more seldom when that does not help: some errors pass (a
// lock, a full disk).
func (p *pass) keepApplying() error {
	c, a := p.st.Channel, &p.Memory.applier
	now := time.Now()
	switch {
	case c.Applier:
		a.running(now)
		return nil
	case c.ApplierError == "":
		return p.did(p.DB.StartApplier)
	case a.failed(now, c.ApplierError):
		if err := p.did(p.DB.StartApplier); err != nil {
			return err
		}
	}
	return waitf("the applier stopped: %s", c.ApplierError)
}

// told returns the status as others are to see it: an applier is not running only when its error stands, and then also
// at the moments when it is being tried again.
func (m *Memory) told(now time.Time, st mysql.Status) mysql.Status {
	switch a := &m.applier; {
	case !a.standing():
	case a.broken(now):
		st.Channel.Applier, st.Channel.ApplierError = false, a.text
	default:
		st.Channel.Applier, st.Channel.ApplierError = true, ""
	}
	return st
}

// follow points the receiver at the source and starts it, if the source has all that is here.
func (p *pass) follow(want Replica) error {
	if want.Source == "" {
		return waitf("no source was ordered yet")
	}
	if p.differs(want) {
		if err := p.repoint(want); err != nil {
			return err
		}
	}
	if p.st.Channel.Receiver == mysql.ReceiverOff {
		if err := p.receiverMayStart(time.Now()); err != nil {
			return err
		}
		if err := p.start(want); err != nil {
			return err
		}
	}
	if p.st.Channel.Receiver == mysql.ReceiverConnected {
		p.Memory.attached = true
		p.Memory.receiver.running(time.Now())
	}
	return nil
}

// receiverMayStart keeps a receiver that ended with an error as it is for a while, so that the error can be read: a start
// clears it. Where only a clone helps (the source has purged what is lacking) it is not started again at all.
func (p *pass) receiverMayStart(now time.Time) error {
	c, m := p.st.Channel, p.Memory
	switch {
	case m.pointed || c.ReceiverErrno == 0:
		return nil
	case c.NeedsClone():
		return waitf("the source has purged what this instance lacks: only a clone helps")
	case !m.receiver.failed(now, c.ReceiverError):
		return waitf("the receiver stopped: %s", c.ReceiverError)
	}
	return nil
}

// differs tells whether the receiver must be told anew. A password alone is told again only when the source refuses
// the one that is stored: a manager that restarts must not disturb a receiver that is connected.
func (p *pass) differs(want Replica) bool {
	c := p.st.Channel
	if !c.Configured || c.SourceHost != want.Host || c.SourcePort != want.Port || c.SourceUser != want.Account ||
		p.st.ReplicaEnabled != want.Acking {
		return true
	}
	refused := c.ReceiverErrno == erAccessDenied || c.ReceiverErrno == erAccountLocked
	return want.Password != "" && p.Memory.configured != configKey(want) &&
		(p.Memory.configured != "" || refused || c.Receiver == mysql.ReceiverOff)
}

func configKey(want Replica) string {
	return key(want.Host, strconv.Itoa(want.Port), want.Account, digest(want.Password))
}

func (p *pass) repoint(want Replica) error {
	if p.st.Channel.Configured && p.st.Channel.Receiver != mysql.ReceiverOff {
		if err := p.did(p.DB.StopReceiver); err != nil {
			return stuckOnTimeout(err)
		}
	}
	c := p.st.Channel
	// Also not shortly after the applier was started again: it may end while the receiver is being told.
	stands := !c.Applier || p.Memory.applier.standing()
	if c.Configured && stands && !c.Received.Subtract(p.st.Executed).IsEmpty() {
		return waitf("the receiver is not re-pointed while received transactions are not applied and the applier is stopped")
	}
	first := !c.Configured
	return p.did(func(ctx context.Context) error {
		if err := p.DB.SetAcknowledging(ctx, want.Acking); err != nil {
			return err
		}
		if err := p.DB.ConfigureSource(ctx, mysql.Source{
			Host: want.Host, Port: want.Port, User: want.Account, Password: want.Password, First: first,
			CA: want.CA, Cert: want.Cert, Key: want.Key,
		}); err != nil {
			return err
		}
		p.Memory.configured, p.Memory.pointed, p.Memory.receiver = configKey(want), true, trouble{}
		return nil
	})
}

// start starts the receiver, after the check that the server makes for its own UUID only (A1): the source must have,
// or be about to commit, everything that is here. Its sets are read after ours.
func (p *pass) start(want Replica) error {
	a, err := p.Asker.Ask(p.ctx, want.Source)
	if err != nil {
		return waitf("the source %s does not answer", want.Source)
	}
	switch {
	case a.ClusterUID != p.ClusterUID:
		return waitf("the source %s belongs to another cluster", want.Source)
	case !a.Known:
		return waitf("the source %s cannot tell its set", want.Source)
	}
	if extra := p.st.Held().Subtract(a.Held); !extra.IsEmpty() {
		p.Log.V(1).Info("The source lacks transactions", "source", want.Source, "gtid", extra.String())
		return waitf("not following %s: this instance has transactions that it lacks", want.Source)
	}
	before := p.st.Channel
	if err := p.did(p.DB.StartReceiver); err != nil {
		return err
	}
	p.Memory.pointed = false
	p.keepReceiverError(before)
	if c := p.st.Channel; !c.Applier && c.ApplierError == "" && !want.Lent {
		return p.did(p.DB.StartApplier)
	}
	return nil
}

// keepReceiverError keeps an error to be read that the start has cleared, until it is known whether it helped.
func (p *pass) keepReceiverError(before mysql.Channel) {
	c := &p.st.Channel
	if c.ReceiverErrno == 0 && c.Receiver != mysql.ReceiverConnected && p.Memory.receiver.standing() {
		c.ReceiverErrno, c.ReceiverError = before.ReceiverErrno, before.ReceiverError
	}
}

// goOnline lets clients read once the replica was attached (F8).
func (p *pass) goOnline() error {
	if !p.Memory.attached || !p.st.Offline {
		return nil
	}
	return p.did(func(ctx context.Context) error { return p.DB.SetOffline(ctx, false) })
}

func stuckOnTimeout(err error) error {
	if errors.Is(err, mysql.ErrTimeout) {
		return fmt.Errorf("%w: %w", ErrStuck, err)
	}
	return err
}
