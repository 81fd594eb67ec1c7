// SPDX-License-Identifier: Apache-2.0

// Package cluster brings clusters up and down and breaks them on purpose.
//
// Every operation can be interrupted and repeated. What exists is read from the machine and from small records in the
// cluster's folder, each written before the thing it names can do anything:
//
//	STATE/slots.json          which cluster has which addresses
//	STATE/machine.json        how the host was before the first cluster
//	STATE/NAME/cluster.json   number of nodes, timing
//	STATE/NAME/machines/M.pid first process of machine M; the kernel ends all of M with it
package cluster
