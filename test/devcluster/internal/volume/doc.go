// SPDX-License-Identifier: Apache-2.0

// Package volume keeps the content of the cluster's volumes on the host, independent of any node's life.
//
// A volume is a folder with a description and either a disk image with a file system, whose size is real (it can be full, and
// it grows only when asked), or an ordinary folder, which is fast and has the size of the host's disk. The content
// survives the death of its node and a restart of the cluster.
package volume
