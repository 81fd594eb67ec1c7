// SPDX-License-Identifier: Apache-2.0

// Package bootstrap fills an empty instance: by making the cluster's first datadir, or by a clone from a donor.
//
//	Initialize:  mysqld --initialize ──▶ incoming/ ───────────────────────────▶ rename to data/
//	Clone:       scratch/ server ── CLONE INSTANCE … DATA DIRECTORY ──▶ incoming/ ──▶ rename to data/
//
// Whatever lies in incoming/ or scratch/ is a leftover and removed at every start. A datadir counts only when the
// marker says that it is complete, which is stored last (I3). No local GTID is made (I9).
package bootstrap
