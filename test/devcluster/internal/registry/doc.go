// SPDX-License-Identifier: Apache-2.0

// Package registry is the cluster's own image registry and the way images get into it.
//
// It serves every repository name: the nodes ask it for docker.io and ghcr.io images, so that manifests carry the
// names that users write. What it does not hold is an ordinary 404, and so an ordinary ErrImagePull.
package registry
