// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
)

func TestMergeKeepsTheMoreUrgent(t *testing.T) {
	broken, wrong := errors.New("broken"), errors.New("wrong")
	tests := map[string]struct {
		a, b Outcome
		want string
	}{
		"done and done":          {Done(), Done(), "done"},
		"a wait over done":       {Done(), Wait(time.Hour, ""), "wait"},
		"a retry over a wait":    {Wait(time.Second, ""), Retry(broken), "retry"},
		"a wait over a stop":     {Stop(wrong, ""), Wait(time.Second, ""), "wait"},
		"a retry over a stop":    {Stop(wrong, ""), Retry(broken), "retry"},
		"a stop over done":       {Done(), Stop(wrong, ""), "stop"},
		"a conflict only waits":  {Done(), Retry(apierrors.NewConflict(schema.GroupResource{}, "x", broken)), "wait"},
		"a lost race only waits": {Done(), Retry(ErrHAChanged), "wait"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.a.Merge(test.b).Name(); got != test.want {
				t.Errorf("a.Merge(b) is %s, want %s", got, test.want)
			}
			if got := test.b.Merge(test.a).Name(); got != test.want {
				t.Errorf("b.Merge(a) is %s, want %s", got, test.want)
			}
		})
	}
	if out := Retry(broken).Merge(Retry(wrong)); !errors.Is(out.Err(), broken) || !errors.Is(out.Err(), wrong) {
		t.Errorf("of two retries one error is lost: %v", out.Err())
	}
	if result, _ := Wait(time.Hour, "").Merge(Wait(time.Minute, "")).Result(); result.RequeueAfter > 2*time.Minute {
		t.Errorf("of two waits the longer was kept: %v", result.RequeueAfter)
	}
}

func TestEachOutcomeIsWhatControllerRuntimeWants(t *testing.T) {
	broken := errors.New("broken")
	if result, err := Done().Result(); err != nil || result.RequeueAfter != 0 {
		t.Errorf("Done gave %+v, %v", result, err)
	}
	if result, err := Wait(0, "").Result(); err != nil || result.RequeueAfter < SoonInterval {
		t.Errorf("Wait(0) gave %+v, %v: it would spin, or never come back", result, err)
	}
	if _, err := Retry(broken).Result(); !errors.Is(err, broken) || errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("Retry gave %v", err)
	}
	if _, err := Stop(broken, "").Result(); !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("Stop gave %v, want a terminal error: it would be retried for ever", err)
	}
}

func TestConditionKeepsItsTimeUntilTheStatusChanges(t *testing.T) {
	first, later := time.Unix(1000, 0), time.Unix(2000, 0)
	ready := Condition{Type: mysqlv1.ConditionReady, Status: metav1.ConditionFalse, Reason: "A", Message: "a"}
	list := SetCondition(nil, ready, 1, first)
	ready.Reason, ready.Message = "B", "b"
	list = SetCondition(list, ready, 2, later)
	want := []metav1.Condition{{
		Type: "Ready", Status: metav1.ConditionFalse, Reason: "B", Message: "b", ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(first),
	}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("same status mismatch (-want +got):\n%s", diff)
	}
	ready.Status = metav1.ConditionTrue
	changed := SetCondition(list, ready, 2, later)
	if got := changed[0].LastTransitionTime; !got.Time.Equal(later) {
		t.Errorf("after a change of status the time is %v, want %v", got, later)
	}
	if list[0].Status != metav1.ConditionFalse {
		t.Error("the list that was passed in was changed: it belongs to the cache")
	}
}

func TestConditionsAreSortedByType(t *testing.T) {
	var list []metav1.Condition
	for _, c := range []mysqlv1.ConditionType{mysqlv1.ConditionReady, mysqlv1.ConditionAvailable, mysqlv1.ConditionDurable} {
		list = SetCondition(list, Condition{Type: c, Status: metav1.ConditionTrue, Reason: "R"}, 1, time.Unix(0, 0))
	}
	var got []string
	for _, c := range list {
		got = append(got, c.Type)
	}
	if diff := cmp.Diff([]string{"Available", "Durable", "Ready"}, got); diff != "" {
		t.Errorf("order mismatch (-want +got):\n%s", diff)
	}
}

func TestTruncateCutsBetweenCharacters(t *testing.T) {
	for limit := range 12 {
		got := Truncate("äöü日本語", limit)
		if !utf8.ValidString(got) || len(got) > max(limit, len("…")) {
			t.Errorf("Truncate to %d gave %q (%d bytes)", limit, got, len(got))
		}
	}
	if got := Truncate("short", 10); got != "short" {
		t.Errorf("a short text became %q", got)
	}
	if got := Truncate(strings.Repeat("x", 20), 10); got != "xxxxxxx…" {
		t.Errorf("a long text became %q", got)
	}
}

func TestOnlyChangesThatCanBeActedOnWakeAReconcile(t *testing.T) {
	base := func() *mysqlv1.MySQLCluster {
		return &mysqlv1.MySQLCluster{
			ObjectMeta: metav1.ObjectMeta{ResourceVersion: "1", Generation: 1},
			Status:     mysqlv1.MySQLClusterStatus{HA: &mysqlv1.HAStatus{Revision: 1}},
		}
	}
	tests := map[string]struct {
		change func(*mysqlv1.MySQLCluster)
		want   bool
	}{
		"the periodic resync":       {func(c *mysqlv1.MySQLCluster) { c.ResourceVersion = "1" }, true},
		"the spec":                  {func(c *mysqlv1.MySQLCluster) { c.Generation = 2 }, true},
		"an annotation":             {func(c *mysqlv1.MySQLCluster) { c.Annotations = map[string]string{"a": "b"} }, true},
		"a deletion":                {func(c *mysqlv1.MySQLCluster) { now := metav1.Now(); c.DeletionTimestamp = &now }, true},
		"a stored decision":         {func(c *mysqlv1.MySQLCluster) { c.Status.HA.Revision = 2 }, true},
		"the echo of our own write": {func(c *mysqlv1.MySQLCluster) { c.Status.Phase = "Running" }, false},
		"a label":                   {func(c *mysqlv1.MySQLCluster) { c.Labels = map[string]string{"a": "b"} }, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			after := base()
			after.ResourceVersion = "2"
			test.change(after)
			got := ClusterChanged().Update(event.UpdateEvent{ObjectOld: base(), ObjectNew: after})
			if got != test.want {
				t.Errorf("passed is %t, want %t", got, test.want)
			}
		})
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "1"}}
	if Changed().Update(event.UpdateEvent{ObjectOld: pod, ObjectNew: pod}) {
		t.Error("the resync of a pod wakes a reconcile that the cluster's own resync brings anyway")
	}
}

func TestRequestsAreCountedInTheirOwnContext(t *testing.T) {
	count := CountRequests(roundTripper(func(*http.Request) (*http.Response, error) { return &http.Response{Body: http.NoBody}, nil }))
	ctx, mine := WithRequests(t.Context())
	_, others := WithRequests(t.Context())
	for _, method := range []string{http.MethodGet, http.MethodPatch, http.MethodPost} {
		request, err := http.NewRequestWithContext(ctx, method, "http://localhost", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := count.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	}
	if mine.Reads() != 1 || mine.Writes() != 2 || others.Reads()+others.Writes() != 0 {
		t.Errorf("counted %d reads and %d writes, and %d of others", mine.Reads(), mine.Writes(), others.Reads()+others.Writes())
	}
}
