// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"

	"github.com/keelson-dev/mysql-operator/internal/wire"
)

func TestHubWakesReadersOnlyForNews(t *testing.T) {
	h := NewHub(&wire.Snapshot{})
	_, changed := h.Latest()
	h.Publish(&wire.Snapshot{Why: "a"})
	select {
	case <-changed:
	default:
		t.Fatal("a change woke nobody")
	}
	first, changed := h.Latest()
	h.Publish(&wire.Snapshot{Why: "a"})
	select {
	case <-changed:
		t.Error("the same again woke a reader")
	default:
	}
	if again, _ := h.Latest(); again.GetSequence() != first.GetSequence() {
		t.Error("the same again was numbered anew")
	}
	h.Publish(&wire.Snapshot{Why: "b"})
	h.Publish(&wire.Snapshot{Why: "c"})
	if last, _ := h.Latest(); last.GetWhy() != "c" || last.GetSequence() != first.GetSequence()+2 {
		t.Errorf("a slow reader gets %v", last)
	}
}

// A method that nobody thought about must not be open to anybody.
func TestEveryMethodHasItsCallers(t *testing.T) {
	table := callers()
	for _, m := range wire.Instance_ServiceDesc.Methods {
		checkMethod(t, table, m.MethodName)
	}
	for _, s := range wire.Instance_ServiceDesc.Streams {
		checkMethod(t, table, s.StreamName)
	}
	if want := len(wire.Instance_ServiceDesc.Methods) + len(wire.Instance_ServiceDesc.Streams); len(table) != want {
		t.Errorf("the table has %d methods, the service %d", len(table), want)
	}
}

func checkMethod(t *testing.T, table map[string][]string, name string) {
	t.Helper()
	if len(table["/"+wire.Instance_ServiceDesc.ServiceName+"/"+name]) == 0 {
		t.Errorf("%s has no callers", name)
	}
}
