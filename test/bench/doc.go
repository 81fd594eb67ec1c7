// SPDX-License-Identifier: Apache-2.0

// Package bench measures on a real cluster and prints tables: ratios against what a user would pick instead, taken in
// one run on the same machine. It passes or fails by nothing that a clock says. Build tag: bench.
package bench
