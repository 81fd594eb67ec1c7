// SPDX-License-Identifier: Apache-2.0

package instancetest

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
)

// ledger is a client that writes rows one after the other and remembers each that was acknowledged.
type ledger struct {
	w       *world
	stop    chan struct{}
	stopped sync.WaitGroup

	mu    sync.Mutex
	acked []int
	gap   time.Duration // the longest time between two acknowledgements
}

// write begins to write to the primary.
func (w *world) write() *ledger {
	w.t.Helper()
	c := w.connect(w.ha.primary)
	c.exec("CREATE TABLE IF NOT EXISTS ledger (id INT PRIMARY KEY)")
	first, err := strconv.Atoi(c.query("SELECT COALESCE(MAX(id), 0) + 1 FROM ledger"))
	w.must(err)
	l := &ledger{w: w, stop: make(chan struct{})}
	l.stopped.Go(func() {
		last := time.Now()
		for id := first; ; id++ {
			select {
			case <-l.stop:
				return
			default:
			}
			if c.try(fmt.Sprintf("INSERT INTO ledger VALUES (%d)", id)) != nil {
				continue // refused or in doubt: not acknowledged
			}
			l.mu.Lock()
			l.acked = append(l.acked, id)
			l.gap = max(l.gap, time.Since(last))
			l.mu.Unlock()
			last = time.Now()
		}
	})
	w.t.Cleanup(func() { l.end() })
	return l
}

func (l *ledger) end() {
	select {
	case <-l.stop:
	default:
		close(l.stop)
	}
	l.stopped.Wait()
}

func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acked)
}

// progress waits until more rows were acknowledged.
func (l *ledger) progress(rows int) {
	l.w.t.Helper()
	from := l.count()
	l.w.eventually("writes go on", func() bool { return l.count() >= from+rows })
}

// verify checks that the instance has every acknowledged row.
func (l *ledger) verify(name string) {
	l.w.t.Helper()
	has := map[int]bool{}
	for line := range strings.SplitSeq(l.w.admin(name).query("SELECT id FROM "+database+".ledger"), "\n") {
		id, err := strconv.Atoi(line)
		l.w.must(err)
		has[id] = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range l.acked {
		if !has[id] {
			l.w.t.Errorf("%s lacks row %d, which was acknowledged", name, id)
		}
	}
}

// eventually waits until cond holds.
func (w *world) eventually(what string, cond func() bool) {
	w.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !cond() {
		select {
		case <-deadline.C:
			w.t.Fatalf("waited in vain until %s", what)
		case <-again.C:
		}
	}
}

// equal waits until all members have executed what the primary has now, and compares the data: equal sets must mean
// equal data (I10).
func (w *world) equal() {
	w.t.Helper()
	executed := func(name string) gtid.Set { return set(w.admin(name).query("SELECT @@GLOBAL.gtid_executed")) }
	want := executed(w.ha.primary)
	sum := w.admin(w.ha.primary).query("CHECKSUM TABLE " + database + ".ledger")
	for _, name := range without(w.ha.inSync, w.ha.primary) {
		w.eventually(name+" has executed what the primary has", func() bool { return executed(name).Equal(want) })
		if got := w.admin(name).query("CHECKSUM TABLE " + database + ".ledger"); got != sum {
			w.t.Errorf("%s has checksum %s, want %s: equal sets, different data", name, got, sum)
		}
	}
}
