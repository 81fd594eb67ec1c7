// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/layout"
)

func TestParseNode(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text    string
		nodes   int
		want    int
		wantErr error
	}{
		"a number":                     {text: "2", nodes: 3, want: 2},
		"a name":                       {text: "node3", nodes: 3, want: 3},
		"nodes are counted from one":   {text: "0", nodes: 3, wantErr: layout.ErrArgument},
		"a node that does not exist":   {text: "4", nodes: 3, wantErr: layout.ErrArgument},
		"the control plane is no node": {text: "plane", nodes: 3, wantErr: layout.ErrArgument},
		"nothing":                      {text: "", nodes: 3, wantErr: layout.ErrArgument},
		"another word with a number":   {text: "nodenode1", nodes: 3, wantErr: layout.ErrArgument},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := layout.ParseNode(tt.text, tt.nodes)
			if got != tt.want || !errors.Is(err, tt.wantErr) {
				t.Errorf("ParseNode(%q) = %d, %v; want %d, %v", tt.text, got, err, tt.want, tt.wantErr)
			}
		})
	}
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		name    string
		wantErr error
	}{
		"an ordinary name":               {name: "dev"},
		"sixteen characters":             {name: strings.Repeat("a", 16)},
		"seventeen characters":           {name: strings.Repeat("a", 17), wantErr: layout.ErrArgument},
		"no name":                        {name: "", wantErr: layout.ErrArgument},
		"a path would leave the folder":  {name: "../etc", wantErr: layout.ErrArgument},
		"a name that begins with a dash": {name: "-x", wantErr: layout.ErrArgument},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := layout.CheckName(tt.name); !errors.Is(err, tt.wantErr) {
				t.Errorf("CheckName(%q) = %v, want %v", tt.name, err, tt.wantErr)
			}
		})
	}
}

func TestCheckNodes(t *testing.T) {
	t.Parallel()
	for n := -1; n <= layout.MaxNodes+2; n++ {
		wantOK := n >= 1 && n <= layout.MaxNodes
		if err := layout.CheckNodes(n); (err == nil) != wantOK {
			t.Errorf("CheckNodes(%d) = %v", n, err)
		}
	}
}

// TestClustersDoNotOverlap: two clusters side by side, or two nodes of one, must never share an address.
func TestClustersDoNotOverlap(t *testing.T) {
	t.Parallel()
	var ranges []netip.Prefix
	links := map[string]bool{}
	for slot := range layout.Slots {
		c := layout.Cluster{Name: "x", Slot: slot}
		ranges = append(ranges, c.Network(), c.Pods(), c.Services())
		for n := 1; n <= layout.MaxNodes; n++ {
			if !c.Pods().Contains(c.NodePods(n).Addr()) || !c.Network().Contains(c.NodeAddress(n)) {
				t.Errorf("node %d of slot %d is outside of its cluster", n, slot)
			}
			name := c.Link(layout.NodeName(n))
			if links[name] || len(name) > 15 {
				t.Errorf("link name %q is taken or too long for the kernel", name)
			}
			links[name] = true
		}
	}
	for i, a := range ranges {
		for _, b := range ranges[:i] {
			if a.Overlaps(b) {
				t.Errorf("%s overlaps %s", a, b)
			}
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	c := layout.Cluster{Name: "dev", Slot: 1, State: "/s/dev"}
	got := map[string]string{
		"host": c.HostAddress().String(), "plane": c.Address(layout.Plane).String(), "node2": c.Address("node2").String(),
		"pods": c.NodePods(2).String(), "dns": c.DNSService().String(), "api": c.APIServer(), "registry": c.Registry(),
		"cgroup": c.Cgroup("node2"), "kubeconfig": c.Kubeconfig(),
	}
	want := map[string]string{
		"host": "172.30.1.1", "plane": "172.30.1.2", "node2": "172.30.1.12",
		"pods": "10.65.2.0/24", "dns": "10.97.0.10", "api": "https://172.30.1.2:6443", "registry": "172.30.1.2:5000",
		"cgroup": "/keelson-devcluster-dev/node2", "kubeconfig": "/s/dev/kubeconfig",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("addresses mismatch (-want +got):\n%s", diff)
	}
}
