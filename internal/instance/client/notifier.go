// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"sync"
)

// notifier is a queue of keys without duplicates and without a bound to block on.
type notifier struct {
	out   chan Key
	wake  chan struct{}
	state *pending
}

type pending struct {
	mu   sync.Mutex
	keys []Key
	in   map[Key]bool
}

func newNotifier() notifier {
	return notifier{out: make(chan Key), wake: make(chan struct{}, 1), state: &pending{in: map[Key]bool{}}}
}

func (n notifier) add(key Key) {
	n.state.mu.Lock()
	if !n.state.in[key] {
		n.state.in[key] = true
		n.state.keys = append(n.state.keys, key)
	}
	n.state.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

func (n notifier) next() (Key, bool) {
	n.state.mu.Lock()
	defer n.state.mu.Unlock()
	if len(n.state.keys) == 0 {
		return Key{}, false
	}
	key := n.state.keys[0]
	n.state.keys = n.state.keys[1:]
	delete(n.state.in, key)
	return key, true
}

func (n notifier) run(ctx context.Context) {
	for {
		key, ok := n.next()
		if !ok {
			select {
			case <-ctx.Done():
				return
			case <-n.wake:
				continue
			}
		}
		select {
		case <-ctx.Done():
			return
		case n.out <- key:
		}
	}
}
