// SPDX-License-Identifier: Apache-2.0

// Package events is the catalogue of what the operator tells about a cluster: one constructor for each event, and a
// recorder that does not say the same thing again and again.
package events
