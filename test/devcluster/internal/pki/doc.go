// SPDX-License-Identifier: Apache-2.0

// Package pki makes the certificates and kubeconfigs of a development cluster and keeps them across restarts.
package pki
