// SPDX-License-Identifier: Apache-2.0

// Package layout decides every name, path and address of a cluster from its name, its slot and the number of a node.
// It is pure: nothing here touches the machine.
//
//	host      172.30.S.1    bridge kdcS; reaches pods and Services directly
//	plane     172.30.S.2    etcd, API server, controllers, registry, DNS, metrics: not a node, so that any node may die
//	node N    172.30.S.10+N pods 10.(64+S).N.0/24
//	Services  10.(96+S).0.0/16
//
// S is the slot: clusters of different names take different slots and can run side by side.
package layout
