// SPDX-License-Identifier: Apache-2.0

// Package bake makes the project's images: the operator's, the MySQL test image and the pause image of the nodes.
package bake
