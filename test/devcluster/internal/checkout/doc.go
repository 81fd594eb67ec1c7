// SPDX-License-Identifier: Apache-2.0

// Package checkout finds the repository's root and the cache that lives outside it.
package checkout
