// SPDX-License-Identifier: Apache-2.0

// Package golden compares what a test got with files in testdata. `go test -update` writes them, never a hand; a file
// that no test asks for any more is an error. Only tests may import it.
package golden
