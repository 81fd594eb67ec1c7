// SPDX-License-Identifier: Apache-2.0

package conditions

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operator-framework/operator-lib/conditions"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// recording remembers what was set, and fails the first times.
type recording struct {
	failures []error
	got      metav1.Condition
}

func (r *recording) Get(context.Context) (*metav1.Condition, error) { return &r.got, nil }

func (r *recording) Set(_ context.Context, status metav1.ConditionStatus, options ...conditions.Option) error {
	if len(r.failures) > 0 {
		err := r.failures[0]
		r.failures = r.failures[1:]
		return err
	}
	r.got = metav1.Condition{Status: status}
	for _, o := range options {
		o(&r.got)
	}
	return nil
}

func TestOutsideOLMNothingHappens(t *testing.T) {
	u, err := New(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(u.Allow(t.Context()), u.Block(t.Context(), "Busy", "busy")); err != nil {
		t.Errorf("setting the condition outside OLM gave %v, want nothing", err)
	}
}

func TestInsideOLMWithoutANamespaceIsAnError(t *testing.T) {
	if _, err := New(nil, "x"); err == nil {
		t.Error("no error although the OperatorCondition cannot be found: OLM would never hear from us")
	}
}

func TestConflictIsTriedAgain(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "operatorconditions"}, "x", errors.New("changed"))
	r := &recording{failures: []error{conflict, conflict}}
	if err := (&Upgradeable{condition: r}).Block(t.Context(), "Cloning", "a clone is under way"); err != nil {
		t.Fatal(err)
	}
	want := metav1.Condition{Status: metav1.ConditionFalse, Reason: "Cloning", Message: "a clone is under way"}
	if diff := cmp.Diff(want, r.got); diff != "" {
		t.Errorf("condition mismatch (-want +got):\n%s", diff)
	}
}
