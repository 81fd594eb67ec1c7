// SPDX-License-Identifier: Apache-2.0

// Package instancetest runs whole managers, each a process of its own with a real mysqld, on loopback, and orders them
// about as the operator would. It holds nothing but tests and their harness.
package instancetest
