// SPDX-License-Identifier: Apache-2.0

// Package nodeinit is process 1 of a machine of the cluster.
//
// A machine is a set of Linux namespaces (processes, mounts, network, host name, IPC) with this program as its first
// process: it starts containerd, the kubelet and so on, starts them again when they die, and reaps what they leave.
// That makes a machine one thing to the kernel. When its first process is killed, the kernel kills every other process
// in it, pods included, unmounts what was mounted in it and removes its network: the death of a node is one signal,
// and nothing is left to be found by name and stopped.
package nodeinit
