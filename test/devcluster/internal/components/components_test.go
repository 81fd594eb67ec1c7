// SPDX-License-Identifier: Apache-2.0

package components_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/components"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/layout"
)

var place = layout.Cluster{Name: "dev", Slot: 0, State: "/var/lib/keelson-devcluster/dev"}

var programs = components.Programs{Bin: "/bin", Self: "/self", Pause: "docker.io/x/pause:1"}

// TestDefaultTimings: what is measured on the cluster means something elsewhere only with Kubernetes' own timings.
func TestDefaultTimings(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		timing components.Timing
		want   bool
	}{
		"the defaults are left alone": {},
		"fast is asked for":           {timing: components.Timing{Fast: true}, want: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plane, err := json.Marshal(components.Plane(place, programs, tt.timing))
			if err != nil {
				t.Fatal(err)
			}
			text := string(plane) + components.NodeFiles(place, programs, 1, tt.timing)[place.Path("node1", "kubelet.yaml")]
			for _, setting := range []string{"node-monitor-grace-period", "nodeStatusUpdateFrequency", "syncFrequency"} {
				if got := strings.Contains(text, setting); got != tt.want {
					t.Errorf("%s is set: %t, want %t", setting, got, tt.want)
				}
			}
		})
	}
}

// TestEveryKubeconfigHasACertificate: a program whose certificate is not issued would never start.
func TestEveryKubeconfigHasACertificate(t *testing.T) {
	t.Parallel()
	issued := map[string]bool{}
	for _, id := range components.Identities(place) {
		issued[id.File] = true
	}
	clients := components.WithKubeconfig()
	for n := 1; n <= layout.MaxNodes; n++ {
		clients = append(clients, components.Kubelet(n))
	}
	for _, c := range clients {
		if !issued[c.File] {
			t.Errorf("no certificate for %s", c.User)
		}
	}
}

// TestSocketPathsFit: the kernel takes at most 107 bytes, and a longer path fails only when it is used.
func TestSocketPathsFit(t *testing.T) {
	t.Parallel()
	node := components.Node(place, programs, 1)
	for _, service := range node.Services {
		for _, arg := range append(service.Args, service.After) {
			if strings.HasSuffix(arg, ".sock") && len(arg) > 107 {
				t.Errorf("%s: %s is too long for a socket", service.Name, arg)
			}
		}
	}
}
