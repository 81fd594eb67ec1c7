// SPDX-License-Identifier: Apache-2.0

// Package v1 is the API of the operator: group mysql.keelson.dev, version v1.
//
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +groupName=mysql.keelson.dev
package v1
