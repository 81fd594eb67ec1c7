// SPDX-License-Identifier: Apache-2.0

// Package wire is the protocol between operator, instance and peer instance: wire.proto and the Go generated from
// it. It holds no behaviour.
package wire
