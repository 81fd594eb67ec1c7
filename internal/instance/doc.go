// SPDX-License-Identifier: Apache-2.0

// Package instance is the manager of one MySQL instance: PID 1 of its pod. It fills the datadir, runs mysqld, stores
// what it is ordered to be and makes it so, and tells everything it knows over its state stream.
//
// One loop owns the state; everything is derived, at each pass, from the marker and from what is there:
//
//	             ┌────────── leftovers removed ───────────┐
//	EMPTY ──Initialize──▶ INITIALIZING ──▶ datadir ──┐    │ (interrupted, at any point)
//	  └─────Clone───────▶ CLONING ────────▶ datadir ─┤────┘
//	                                                 ▼
//	  role FENCED ──▶ FENCED      no role, replica ──▶ STARTING ──▶ RUNNING ⟲ role.Engine
//	  primary ──▶ OFFLINE (scanned) ── order, or all peers agree ──▶ STARTING ──▶ (A2: fill) ──▶ RUNNING
//	  mysqld ends by itself ──▶ DOWN (replica) or OFFLINE (primary)      SIGTERM ──▶ STOPPING
//	  datadir without a readable marker ──▶ QUARANTINED: nothing is touched
//
// Orders arrive on other goroutines: they are checked, stored with fsync, and wake the loop (I4).
package instance
