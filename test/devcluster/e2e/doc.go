// SPDX-License-Identifier: Apache-2.0

// Package e2e shows on this machine what the development cluster promises. It is built with the tag devcluster only,
// because it needs root and changes the machine's network and mounts while it runs: `make test-devcluster`.
package e2e
