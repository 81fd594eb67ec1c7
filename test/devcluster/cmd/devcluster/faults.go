// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/cluster"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/network"
)

func partitionCommand(g *global) *cobra.Command {
	var node, direction string
	var from []string
	var heal bool
	cmd := &cobra.Command{
		Use:   "partition --node N",
		Short: "Cut a node and its pods off the network, or heal it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if heal {
				return g.bare().Heal(cmd.Context(), node)
			}
			d, err := network.ParseDirection(direction)
			if err != nil {
				return err
			}
			return g.bare().Partition(cmd.Context(), node, d, from)
		},
	}
	cmd.Flags().StringVar(&node, "node", "", "the node: 2 or node2")
	cmd.Flags().StringVar(&direction, "direction", string(network.Both), "which packets the node loses: in, out or both")
	cmd.Flags().StringSliceVar(&from, "from", nil, "cut it off from these only: node1 …, plane, host (default everybody)")
	cmd.Flags().BoolVar(&heal, "heal", false, "end the partition")
	_ = cmd.MarkFlagRequired("node")
	return cmd
}

func killNodeCommand(g *global) *cobra.Command {
	var node string
	var revive bool
	cmd := &cobra.Command{
		Use:   "kill-node --node N",
		Short: "Cut the power of a node, or start it again",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !revive {
				return g.bare().KillNode(node)
			}
			m, _, err := g.manager(cmd.Context())
			if err != nil {
				return err
			}
			return m.Revive(node)
		},
	}
	cmd.Flags().StringVar(&node, "node", "", "the node: 2 or node2")
	cmd.Flags().BoolVar(&revive, "revive", false, "start the dead node again")
	_ = cmd.MarkFlagRequired("node")
	return cmd
}

func volumeCommand(g *global) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "volume",
		Short: "Fill, freeze or measure a volume of StorageClass keelson-loop while a pod uses it",
	}
	var leave string
	fill := each(g, "fill", "Fill volumes up", func(v cluster.Mounted) error {
		rest, err := resource.ParseQuantity(leave)
		if err != nil {
			return fmt.Errorf("parse --leave: %w", err)
		}
		return v.Fill(rest.Value())
	})
	fill.Flags().StringVar(&leave, "leave", "0", "bytes to leave free, for example 10Mi")
	cmd.AddCommand(
		fill,
		each(g, "empty", "Take back what fill put in", cluster.Mounted.Empty),
		each(g, "freeze", "Make every write wait, as a stalled disk does", cluster.Mounted.Freeze),
		each(g, "thaw", "End freeze", cluster.Mounted.Thaw),
		each(g, "grow-info", "Show the sizes of disk and file system", func(v cluster.Mounted) error {
			u, err := v.Usage()
			if err != nil {
				return err
			}
			fmt.Printf("%s node=%s disk=%d filesystem=%d free=%d\n", v.ID, v.Node, u.Disk, u.Total, u.Free)
			return nil
		}),
	)
	return cmd
}

// each makes a command that does one thing to the volume of each claim.
func each(g *global, use, short string, do func(cluster.Mounted) error) *cobra.Command {
	return &cobra.Command{
		Use:   use + " [NAMESPACE/]CLAIM…",
		Short: short,
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, claims []string) error {
			m, _, err := g.manager(cmd.Context())
			if err != nil {
				return err
			}
			for _, claim := range claims {
				v, err := m.MountedVolume(cmd.Context(), claim)
				if err != nil {
					return err
				}
				if err := do(v); err != nil {
					return fmt.Errorf("%s %s: %w", use, claim, err)
				}
			}
			return nil
		},
	}
}
