// SPDX-License-Identifier: Apache-2.0

// Package plannertest is a small model of a cluster for tests of the planner: instances that store orders before
// they act, lossless semi-sync with banked acknowledgements, clones, lost volumes and restarts, and a ledger of what
// clients were told. It models what the first rows of the table need; the simulator of the next issue grows from it.
package plannertest
