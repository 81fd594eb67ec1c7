// SPDX-License-Identifier: Apache-2.0

package events

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
)

func drain(sink *events.FakeRecorder) []string {
	var out []string
	for {
		select {
		case e := <-sink.Events:
			out = append(out, e)
		default:
			return out
		}
	}
}

func TestTheSameEventIsSaidOnceInAWhile(t *testing.T) {
	sink := events.NewFakeRecorder(10)
	clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	r := NewRecorder(sink, clock)
	a := &mysqlv1.MySQLCluster{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1"}}
	b := &mysqlv1.MySQLCluster{ObjectMeta: metav1.ObjectMeta{Name: "b", UID: "2"}}

	r.Publish(a, []Event{Opened("a-0"), Opened("a-0"), Opened("a-1")})
	r.Publish(b, []Event{Opened("a-0")})
	want := []string{"Normal Opened a-0 accepts writes", "Normal Opened a-1 accepts writes", "Normal Opened a-0 accepts writes"}
	if diff := cmp.Diff(want, drain(sink)); diff != "" {
		t.Errorf("events mismatch (-want +got):\n%s", diff)
	}
	clock.SetTime(clock.Now().Add(quiet))
	r.Publish(a, []Event{Opened("a-0")})
	if got := drain(sink); len(got) != 1 {
		t.Errorf("after a while the event is said %d times, want 1", len(got))
	}
}

func TestMemoryOfEventsIsBounded(t *testing.T) {
	r := NewRecorder(events.NewFakeRecorder(2*remembered), clocktesting.NewFakePassiveClock(time.Unix(1000, 0)))
	cluster := &mysqlv1.MySQLCluster{}
	for i := range remembered + 10 {
		r.Publish(cluster, []Event{Opened(strings.Repeat("x", i))})
	}
	if len(r.said) > remembered {
		t.Errorf("%d events are remembered, want at most %d", len(r.said), remembered)
	}
}

func TestLongNoteIsCutBetweenCharacters(t *testing.T) {
	got := cut(strings.Repeat("ä", maxNote))
	if len(got) > maxNote || !utf8.ValidString(got) {
		t.Errorf("note has %d bytes, valid %t", len(got), utf8.ValidString(got))
	}
}
