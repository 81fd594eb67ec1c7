// SPDX-License-Identifier: Apache-2.0

// Package marker keeps what an instance must never forget: who it is, what it was last told to be, and what it needs
// to tell its GTID set without a server. It is one small file on the PVC, outside the datadir.
//
// The file is made once at its full size and then only overwritten in place, in two slots by turns, each with a
// sequence number and a checksum:
//
//	| slot 0: magic seq length crc | JSON … | slot 1: magic seq length crc | JSON … |
//
// A torn write spoils the slot that was being written and leaves the other, which is the state before; a full disk
// does not matter, since no block is allocated (ha-rules M12: otherwise a full disk means no order can be accepted,
// and so no failover). An order is stored here, with fsync, before it is acted on (I4).
package marker
