// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/testing/golden"
)

// TestTable keeps docs/reference/decisions.md equal to the table, so that the page and the code have one order.
func TestTable(t *testing.T) {
	var page strings.Builder
	page.WriteString("# What the operator decides\n\nThe first row that applies decides. Generated from `internal/planner/problems.go`; `make generate` rewrites it.\n\n")
	for n, p := range problems() {
		fmt.Fprintf(&page, "%d. %s\n", n+1, p.about)
	}
	golden.Compare(t, "../../docs/reference/decisions.md", []byte(page.String()))
}

func TestAStepThatTakesTooLongIsSaid(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	v := View{Now: now, Spec: Spec{Replicas: 1, MinInSync: 1}, Instances: []Instance{{Name: "c-0", PVC: true}}}
	v.HA = HA{ClusterUID: "u", Bootstrapping: "c-0", Step: stepBootstrap, StepDeadline: now.Add(time.Second)}
	if d := Plan(v); len(d.Because) != 1 {
		t.Fatalf("before the deadline: %q", d.Because)
	}
	v.Now = now.Add(2 * time.Second)
	if d := Plan(v); len(d.Because) != 2 || d.Because[1] != "the step Bootstrap is overdue" {
		t.Errorf("after the deadline: %q", d.Because)
	}
}
