// SPDX-License-Identifier: Apache-2.0

// Package network builds the cluster's network: one bridge on the host, one cable to each machine, static routes to
// the pods of each node, and the cuts that make partitions.
package network
