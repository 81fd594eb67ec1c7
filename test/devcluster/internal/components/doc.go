// SPDX-License-Identifier: Apache-2.0

// Package components writes down how each program of the cluster is started: command lines and configuration files,
// from the layout alone. Timings are Kubernetes' defaults unless the caller asks for fast ones, because numbers that
// are measured on the cluster must mean something elsewhere.
package components
