// SPDX-License-Identifier: Apache-2.0

// Package kube is all there is of API client craft: server-side apply that writes only what differs, exact deletes,
// the compare-and-swap of status.ha, conditions, the four ways a reconcile ends, watch predicates, and the count of
// API requests.
package kube
