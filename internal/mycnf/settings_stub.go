// SPDX-License-Identifier: Apache-2.0

// Package mycnf is replaced by branch vocab.
package mycnf

// Settings is the content of the ConfigMap.
type Settings struct {
	Version string            `json:"version"`
	Config  map[string]string `json:"config"`
}
