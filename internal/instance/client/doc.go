// SPDX-License-Identifier: Apache-2.0

// Package client is the operator's side of the instance protocol: it keeps one Watch stream to each instance alive,
// holds the newest snapshot with its age, and sends orders.
//
//	Ensure ──▶ dial ──▶ Watch ──▶ snapshot … snapshot ──▶ (silent 5 s, or error) ──▶ close, back off, dial …
//	                                 │
//	                                 └──▶ Get (snapshot, age)      Changes (keys, coalesced)
//
// A silent stream is torn down with its connection and the name is resolved anew: a pod that came back has another
// address, and the TCP connection to a node that vanished says nothing for minutes.
package client
