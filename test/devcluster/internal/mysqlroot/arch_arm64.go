// SPDX-License-Identifier: Apache-2.0

package mysqlroot

const (
	triplet = "aarch64-linux-gnu"
	loader  = "lib/ld-linux-aarch64.so.1"
)
