// SPDX-License-Identifier: Apache-2.0

// Package v1 holds the types of the API group mysql.keelson.dev, version v1.
//
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +kubebuilder:ac:output:package=applyconfiguration
// +groupName=mysql.keelson.dev
package v1
