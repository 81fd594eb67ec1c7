// SPDX-License-Identifier: Apache-2.0

// Package assets builds the programs of the development cluster from pinned modules and keeps them in a cache outside
// of the checkout.
//
// Each component is a module of its own below test/devcluster/build, because Kubernetes, containerd and the rest pin
// dependencies that contradict each other and must not reach the operator's go.mod. A component is built once for each
// content of its module and each Go version; a set of links, named by the hash of all components, is what a cluster
// and KUBEBUILDER_ASSETS use, so that an upgrade in one checkout does not change the programs under another.
package assets
