// SPDX-License-Identifier: Apache-2.0

// Command devcluster runs a real Kubernetes of one to seven nodes on one Debian machine, without Docker.
package main
