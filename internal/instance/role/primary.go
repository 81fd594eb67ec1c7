// SPDX-License-Identifier: Apache-2.0

package role

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/keelson-dev/mysql-operator/internal/mysql"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// stopFollowing applies what was received and then forgets the source. The source side of semi-sync comes after it:
// an applier would wait for acknowledgements too (F7).
func (p *pass) stopFollowing() error {
	c := p.st.Channel
	if !c.Configured {
		return nil
	}
	if c.Receiver != mysql.ReceiverOff {
		if err := p.did(p.DB.StopReceiver); err != nil {
			return stuckOnTimeout(err)
		}
	}
	if left := p.st.Channel.Received.Subtract(p.st.Executed); !left.IsEmpty() {
		return p.applyRest()
	}
	if p.st.Channel.Applier {
		if err := p.did(p.DB.StopApplier); err != nil {
			return stuckOnTimeout(err)
		}
	}
	p.Memory.configured, p.Memory.applier, p.Memory.receiver = "", trouble{}, trouble{}
	return p.did(p.DB.ForgetSource)
}

// applyRest keeps the applier at what was received and is not applied.
func (p *pass) applyRest() error {
	if err := p.keepApplying(); err != nil {
		return err
	}
	return waitf("received transactions are being applied")
}

// admit brings the list and the count into effect. A count that rises comes before the list, one that falls after it:
// at no moment may fewer acknowledge than the larger of the old and the new rule asks.
func (p *pass) admit(want Primary) error {
	if rises(p.st, want.WaitFor) {
		if err := p.did(p.setCount(want.WaitFor)); err != nil {
			return err
		}
	}
	if err := p.admitList(want); err != nil {
		return err
	}
	if falls(p.st, want.WaitFor) {
		return p.did(p.setCount(want.WaitFor))
	}
	return nil
}

func rises(st mysql.Status, count int) bool {
	return count > 0 && (!st.SourceEnabled || count > st.WaitFor)
}

func falls(st mysql.Status, count int) bool {
	return st.SourceEnabled && (count == 0 || count < st.WaitFor)
}

func (p *pass) setCount(count int) func(context.Context) error {
	return func(ctx context.Context) error { return p.DB.WaitForAcks(ctx, count) }
}

// admitList unlocks the members' accounts and locks all others, then ends what the others have open. The account for
// catching up is unlocked on every primary; it never acknowledges.
func (p *pass) admitList(want Primary) error {
	m := p.Memory
	logins, lock, changed := p.compare(want)
	if !changed {
		return p.evict()
	}
	m.barrier = nil
	if out := slices.Concat(lock, m.stale(want)); len(out) > 0 {
		m.mustEvict(out)
	}
	if err := p.DB.AdmitMembers(p.ctx, logins, lock, []string{naming.AccountCatchup}); err != nil {
		return p.stuckBehindCommit(err)
	}
	m.remember(want)
	if err := p.evict(); err != nil {
		return err
	}
	return p.did(func(context.Context) error { return nil })
}

// stuckBehindCommit tells that a statement about accounts timed out behind another one that waits for its
// acknowledgement (B1): no member can log in meanwhile, so that only the end of the process frees it.
func (p *pass) stuckBehindCommit(err error) error {
	if !errors.Is(err, mysql.ErrTimeout) {
		return err
	}
	waits := p.st.WaitSessions
	if st, now := p.DB.Status(p.ctx); now == nil {
		waits = st.WaitSessions
	}
	if waits == 0 {
		return err
	}
	return fmt.Errorf("%w: a statement about accounts waits behind a commit: %w", ErrStuck, err)
}

// compare returns what must be told to mysqld; changed is false when it was told already.
func (p *pass) compare(want Primary) (logins []mysql.Login, lock []string, changed bool) {
	listed, locked := map[string]bool{naming.AccountCatchup: true}, map[string]bool{}
	for _, a := range p.st.Accounts {
		locked[a.Name] = a.Locked
	}
	changed = p.Memory.admitted == nil || locked[naming.AccountCatchup]
	for _, peer := range want.Peers {
		listed[peer.Account] = true
		// Only what is new is told: commits wait for a shrink, and each statement about an account is a write.
		if !p.Memory.knows(peer) || locked[peer.Account] {
			logins = append(logins, mysql.Login{Name: peer.Account, Subject: peer.Subject, Password: peer.Password})
		}
	}
	for name, isLocked := range locked {
		if !listed[name] && !isLocked {
			lock = append(lock, name)
		}
	}
	slices.Sort(lock)
	return logins, lock, changed || len(logins) > 0 || len(lock) > 0
}

func (m *Memory) knows(peer Peer) bool {
	known, ok := m.admitted[peer.Account]
	password := digest(peer.Password)
	return ok && known.incarnation == peer.Incarnation && (password == "" || password == known.password)
}

// stale returns the accounts of members that were admitted with other credentials: whoever is logged in with those
// is another incarnation.
func (m *Memory) stale(want Primary) []string {
	var out []string
	for _, peer := range want.Peers {
		if _, before := m.admitted[peer.Account]; before && !m.knows(peer) {
			out = append(out, peer.Account)
		}
	}
	return out
}

func (m *Memory) remember(want Primary) {
	old := m.admitted
	m.admitted = map[string]login{}
	for _, peer := range want.Peers {
		l := login{incarnation: peer.Incarnation, password: digest(peer.Password)}
		if before, ok := old[peer.Account]; ok && l.password == "" && before.incarnation == l.incarnation {
			l.password = before.password
		}
		m.admitted[peer.Account] = l
	}
}

// evictRounds bounds one pass; sessions that are being killed are usually gone at the second look.
const evictRounds = 50

// evict ends what accounts have open that were locked out, in this pass or in one before which did not get so far.
func (p *pass) evict() error {
	out := p.Memory.toEvict
	if out == nil {
		return nil
	}
	if out.last == 0 {
		last, err := p.DB.ConnectionsMade(p.ctx)
		if err != nil {
			return err
		}
		out.last = last
	}
	for range evictRounds {
		found, err := p.DB.Evict(p.ctx, out.accounts, out.last)
		if err != nil {
			return err
		}
		if !found {
			p.Memory.toEvict = nil
			return nil
		}
	}
	return waitf("sessions of accounts that were locked out are still there")
}

// readBarrier reads what was in flight or done under an earlier list, once for each list and count (A3).
func (p *pass) readBarrier(want Primary) error {
	list := listKey(want)
	if p.Memory.barrier != nil && p.Memory.listed == list {
		return nil
	}
	sets, err := p.DB.Sets(p.ctx)
	if err != nil {
		return err
	}
	barrier := sets.Executed.Union(sets.Owned)
	p.Memory.barrier, p.Memory.listed = &barrier, list
	return nil
}

func listKey(want Primary) string {
	parts := []string{strconv.Itoa(want.WaitFor)}
	for _, peer := range want.Peers {
		parts = append(parts, peer.Name, peer.Incarnation)
	}
	return key(parts...)
}

func (p *pass) closeFirst(want Primary) error {
	if want.Open {
		return nil
	}
	return p.closeToClients()
}

func (p *pass) open(want Primary) error {
	if !want.Open {
		return nil
	}
	if !p.Memory.opened {
		if err := p.everyMemberHolds(want); err != nil {
			return err
		}
	}
	if p.st.ReadOnly || p.st.SuperReadOnly || p.st.Offline {
		if err := p.did(p.DB.OpenForWrites); err != nil {
			return err
		}
	}
	p.Memory.opened = true
	return nil
}

// closeToClients closes an open primary. A commit that waits for an acknowledgement keeps it from closing, and nothing
// but the end of the process ends that wait without acknowledging it (B6).
func (p *pass) closeToClients() error {
	p.Memory.opened = false
	if !p.st.SuperReadOnly {
		if err := p.did(p.DB.SetReadOnly); err != nil {
			return fmt.Errorf("close to clients: %w", stuckOnTimeout(err))
		}
	}
	if !p.st.Offline {
		return p.did(func(ctx context.Context) error { return p.DB.SetOffline(ctx, true) })
	}
	return nil
}

// everyMemberHolds is the condition to open (B3, C11): each member says itself that it has our executed set and that
// its receiver is connected to this server, and we see it connected. The server is closed, so its set stands still.
func (p *pass) everyMemberHolds(want Primary) error {
	var missing []string
	for _, peer := range want.Peers {
		if why := p.memberLacks(peer); why != "" {
			missing = append(missing, peer.Name+" "+why)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return NotOpenError{For: strings.Join(missing, "; ")}
	}
	if want.WaitFor > 0 && (!p.st.SourceStatus || p.st.Clients < want.WaitFor) {
		return NotOpenError{For: fmt.Sprintf("%d members must acknowledge and %d do", want.WaitFor, p.st.Clients)}
	}
	return nil
}

func (p *pass) memberLacks(peer Peer) string {
	a, err := p.Asker.Ask(p.ctx, peer.Name)
	switch {
	case err != nil:
		return "does not answer"
	case a.ClusterUID != p.ClusterUID:
		return "belongs to another cluster"
	case a.Incarnation != peer.Incarnation:
		return "is another incarnation"
	case !a.Known:
		return "cannot tell its set"
	case !a.Held.Contains(p.st.Executed):
		// The set changes with each look, and what is told is kept in the cluster's status.
		p.Log.V(1).Info("A member lacks transactions", "member", peer.Name, "gtid", p.st.Executed.Subtract(a.Held).String())
		return "lacks transactions"
	case a.SourceUUID != p.st.ServerUUID || !p.dumps(peer.Account):
		return "is not connected to this server"
	}
	return ""
}

func (p *pass) dumps(account string) bool {
	return slices.ContainsFunc(p.st.Dumps, func(d mysql.Session) bool { return d.User == account })
}
