// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/layout"
)

func TestRules(t *testing.T) {
	t.Parallel()
	peer := []netip.Prefix{netip.MustParsePrefix("172.30.0.12/32")}
	tests := map[string]struct {
		cut  Cut
		want []string
	}{
		"what comes in, from everybody": {cut: Cut{Direction: In}, want: []string{
			"-t raw -N KEELSON-PARTITION",
			"-t raw -A KEELSON-PARTITION -j DROP",
			"-t raw -I PREROUTING 1 -i eth0 -j KEELSON-PARTITION",
		}},
		"what goes out, to one peer": {cut: Cut{Direction: Out, Peers: peer}, want: []string{
			"-t mangle -N KEELSON-PARTITION",
			"-t mangle -A KEELSON-PARTITION -d 172.30.0.12/32 -j DROP",
			"-t mangle -I POSTROUTING 1 -o eth0 -j KEELSON-PARTITION",
		}},
		"both ways, with one peer": {cut: Cut{Direction: Both, Peers: peer}, want: []string{
			"-t raw -N KEELSON-PARTITION",
			"-t raw -A KEELSON-PARTITION -s 172.30.0.12/32 -j DROP",
			"-t raw -I PREROUTING 1 -i eth0 -j KEELSON-PARTITION",
			"-t mangle -N KEELSON-PARTITION",
			"-t mangle -A KEELSON-PARTITION -d 172.30.0.12/32 -j DROP",
			"-t mangle -I POSTROUTING 1 -o eth0 -j KEELSON-PARTITION",
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, joined(rules(tt.cut))); diff != "" {
				t.Errorf("rules() mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHealing: only the cut goes; rules of kube-proxy stay.
func TestHealing(t *testing.T) {
	t.Parallel()
	const saved = `*raw
:PREROUTING ACCEPT [0:0]
:KEELSON-PARTITION - [0:0]
-A PREROUTING -i eth0 -j KEELSON-PARTITION
-A KEELSON-PARTITION -j DROP
COMMIT
*nat
:KUBE-SERVICES - [0:0]
-A PREROUTING -j KUBE-SERVICES
COMMIT
`
	want := []string{
		"-t raw -D PREROUTING -i eth0 -j KEELSON-PARTITION",
		"-t raw -F KEELSON-PARTITION",
		"-t raw -X KEELSON-PARTITION",
	}
	if diff := cmp.Diff(want, joined(healing(saved))); diff != "" {
		t.Errorf("healing() mismatch (-want +got):\n%s", diff)
	}
}

func TestPeers(t *testing.T) {
	t.Parallel()
	got, err := Peers(layout.Cluster{}, []string{"plane", "host", "node2"})
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, p := range got {
		text = append(text, p.String())
	}
	if diff := cmp.Diff([]string{"172.30.0.2/32", "172.30.0.1/32", "172.30.0.12/32", "10.64.2.0/24"}, text); diff != "" {
		t.Errorf("Peers() mismatch (-want +got):\n%s", diff)
	}
	if _, err := Peers(layout.Cluster{}, []string{"moon"}); !errors.Is(err, layout.ErrArgument) {
		t.Errorf("Peers() = %v, want ErrArgument", err)
	}
}

func TestParseDirection(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"in", "out", "both"} {
		if d, err := ParseDirection(text); err != nil || string(d) != text {
			t.Errorf("ParseDirection(%q) = %q, %v", text, d, err)
		}
	}
	if _, err := ParseDirection("up"); !errors.Is(err, layout.ErrArgument) {
		t.Errorf("ParseDirection() = %v, want ErrArgument", err)
	}
}

func joined(lines [][]string) []string {
	var text []string
	for _, line := range lines {
		text = append(text, strings.Join(line, " "))
	}
	return text
}
