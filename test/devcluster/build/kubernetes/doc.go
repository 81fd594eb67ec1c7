// SPDX-License-Identifier: Apache-2.0

// Command kubernetes is every Kubernetes program of the development cluster in one multi-call binary, so that the
// packages they share (nearly all) are linked and stored once. It runs the program that its own name (argv[0]) gives.
package main
