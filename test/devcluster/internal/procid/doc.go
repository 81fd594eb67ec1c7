// SPDX-License-Identifier: Apache-2.0

// Package procid remembers processes across runs of the command.
//
// A record holds the process id together with the start time and the boot it belongs to. The kernel reuses ids; a
// record that names only the id would one day kill a stranger.
package procid
