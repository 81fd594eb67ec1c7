// SPDX-License-Identifier: Apache-2.0

// Package image makes container images without Docker: layers from files, OCI archives from images. The same input
// gives the same bytes, on any machine and at any time, so that a digest says what is inside.
package image
