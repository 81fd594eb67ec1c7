// SPDX-License-Identifier: Apache-2.0

// Package resources builds the desired objects of a cluster: pure functions from the spec to typed apply
// configurations, one file for each kind. Golden YAML in testdata shows what they make.
package resources
