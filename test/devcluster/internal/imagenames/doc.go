// SPDX-License-Identifier: Apache-2.0

// Package imagenames reads make/images.mk, the only place with names of container images.
package imagenames
