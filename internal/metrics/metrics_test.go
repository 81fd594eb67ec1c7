// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestForgottenClusterLeavesNoSeries(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	m, err := New(registry)
	if err != nil {
		t.Fatal(err)
	}
	gone, kept := Cluster{"a", "gone"}, Cluster{"a", "kept"}
	for _, c := range []Cluster{gone, kept} {
		m.Observe(c, State{Epoch: 1, InSync: 3, Ready: 3})
		m.PrimaryChanged(c)
	}
	m.Forget(gone)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "cluster" {
					found[label.GetValue()]++
				}
			}
		}
	}
	if found["gone"] != 0 || found["kept"] != 4 {
		t.Errorf("series by cluster are %v, want none of gone and 4 of kept", found)
	}
}

func TestRegisteringTwiceIsAnError(t *testing.T) {
	registry := prometheus.NewRegistry()
	if _, err := New(registry); err != nil {
		t.Fatal(err)
	}
	if _, err := New(registry); err == nil {
		t.Error("the second registration gave no error: two operators would count into one set of metrics")
	}
}
