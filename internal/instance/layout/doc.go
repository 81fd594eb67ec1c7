// SPDX-License-Identifier: Apache-2.0

// Package layout knows where things are in an instance pod, and lets a test put them elsewhere.
package layout
