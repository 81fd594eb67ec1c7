// SPDX-License-Identifier: Apache-2.0

// Package server is what an instance offers to others: the gRPC service over mTLS for the operator and the peers, the
// kubelet's probes, and the metrics. It decides nothing; who may call what is one table.
package server
