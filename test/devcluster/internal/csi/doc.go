// SPDX-License-Identifier: Apache-2.0

// Package csi is the cluster's CSI driver: a controller that makes volumes on the host and a node service in each
// node that mounts them.
package csi
