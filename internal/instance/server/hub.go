// SPDX-License-Identifier: Apache-2.0

package server

import (
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// Hub holds the newest snapshot. A reader that is slow misses those in between and gets the newest.
type Hub struct {
	mu      sync.Mutex
	latest  *wire.Snapshot
	changed chan struct{} // closed at the next change
}

// NewHub returns a hub with a first snapshot.
func NewHub(first *wire.Snapshot) *Hub {
	return &Hub{latest: first, changed: make(chan struct{})}
}

// Publish makes s the newest, which it must not be changed after. It numbers it; one that says nothing new keeps the
// number and wakes nobody.
func (h *Hub) Publish(s *wire.Snapshot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Sequence = h.latest.GetSequence()
	if proto.Equal(s, h.latest) {
		return
	}
	s.Sequence++
	h.latest = s
	close(h.changed)
	h.changed = make(chan struct{})
}

// Latest returns the newest, which must not be changed, and a channel that is closed when there is a newer one.
func (h *Hub) Latest() (*wire.Snapshot, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.latest, h.changed
}
