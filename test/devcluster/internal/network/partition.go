// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/command"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/layout"
)

// chain is the chain that holds a node's cuts: removing it heals, and nobody else's rules are touched.
const chain = "KEELSON-PARTITION"

// Direction says which packets a cut node loses.
type Direction string

// The directions, as the node sees them.
const (
	In   Direction = "in"
	Out  Direction = "out"
	Both Direction = "both"
)

// Cut is one partition: node loses packets from or to the peers.
type Cut struct {
	Direction Direction
	Peers     []netip.Prefix // empty: everybody
}

// ParseDirection reads a direction from the command line.
func ParseDirection(text string) (Direction, error) {
	switch d := Direction(text); d {
	case In, Out, Both:
		return d, nil
	default:
		return "", fmt.Errorf("%w: direction %q: use in, out or both", layout.ErrArgument, text)
	}
}

// Peers turns names (node2, plane, host) into the ranges that belong to them: the machine and its pods.
func Peers(c layout.Cluster, names []string) ([]netip.Prefix, error) {
	var peers []netip.Prefix
	for _, name := range names {
		switch name {
		case layout.Plane:
			peers = append(peers, single(c.PlaneAddress()))
		case "host":
			peers = append(peers, single(c.HostAddress()))
		default:
			n, err := layout.ParseNode(name, layout.MaxNodes)
			if err != nil {
				return nil, err
			}
			peers = append(peers, single(c.NodeAddress(n)), c.NodePods(n))
		}
	}
	return peers, nil
}

func single(address netip.Addr) netip.Prefix { return netip.PrefixFrom(address, address.BitLen()) }

// Partition cuts the machine whose first process is pid. Rules sit where both the node's own packets and its pods'
// pass, and before connection tracking, so that established connections fall silent too.
func Partition(ctx context.Context, pid int, cut Cut) error {
	if err := Heal(ctx, pid); err != nil {
		return err
	}
	return iptables(ctx, pid, rules(cut))
}

// Heal removes every cut of the machine.
func Heal(ctx context.Context, pid int) error {
	saved, err := command.Output(ctx, "nsenter", "--net=/proc/"+strconv.Itoa(pid)+"/ns/net", "iptables-save")
	if err != nil {
		return fmt.Errorf("read rules of node: %w", err)
	}
	return iptables(ctx, pid, healing(saved))
}

// IsCut tells whether the machine whose first process is pid has a cut.
func IsCut(ctx context.Context, pid int) bool {
	saved, err := command.Output(ctx, "nsenter", "--net=/proc/"+strconv.Itoa(pid)+"/ns/net", "iptables-save")
	return err == nil && len(healing(saved)) > 0
}

// rules are the iptables arguments that make a cut.
func rules(cut Cut) [][]string {
	var lines [][]string
	add := func(table, hook, device, peer string) {
		lines = append(lines, []string{"-t", table, "-N", chain})
		if len(cut.Peers) == 0 {
			lines = append(lines, []string{"-t", table, "-A", chain, "-j", "DROP"})
		}
		for _, p := range cut.Peers {
			lines = append(lines, []string{"-t", table, "-A", chain, peer, p.String(), "-j", "DROP"})
		}
		lines = append(lines, []string{"-t", table, "-I", hook, "1", device, inside, "-j", chain})
	}
	if cut.Direction != Out {
		add("raw", "PREROUTING", "-i", "-s")
	}
	if cut.Direction != In {
		add("mangle", "POSTROUTING", "-o", "-d")
	}
	return lines
}

// healing are the iptables arguments that undo the cuts seen in the output of iptables-save.
func healing(saved string) [][]string {
	var jumps, chains [][]string
	table := ""
	for line := range strings.Lines(saved) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "*"):
			table = line[1:]
		case strings.HasPrefix(line, ":"+chain+" "):
			chains = append(chains, []string{"-t", table, "-F", chain}, []string{"-t", table, "-X", chain})
		case strings.HasPrefix(line, "-A ") && strings.HasSuffix(line, "-j "+chain):
			jumps = append(jumps, append([]string{"-t", table, "-D"}, strings.Fields(line)[1:]...))
		}
	}
	return append(jumps, chains...)
}

func iptables(ctx context.Context, pid int, lines [][]string) error {
	for _, line := range lines {
		args := append([]string{"--net=/proc/" + strconv.Itoa(pid) + "/ns/net", "iptables", "-w"}, line...)
		if err := command.Run(ctx, "nsenter", args...); err != nil {
			return fmt.Errorf("change rules of node: %w", err)
		}
	}
	return nil
}
