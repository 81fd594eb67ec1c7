// SPDX-License-Identifier: Apache-2.0

// Package metrics holds all metrics of the operator, with their help and labels. Metrics of the instances are served
// by the instances themselves.
package metrics
