// SPDX-License-Identifier: Apache-2.0

// Command testcount reads the events of `go test -json` from files and says what came out:
// every failed test, every skipped test with its reason, and, as the last line, exactly
//
//	N passed, N failed, N skipped
//
// Subtests count like tests. A package that fails without a failed test (it does not build,
// or its process died) counts as one failure, and so does each step named by -failed.
// The exit status is 1 when anything failed, or when nothing passed.
package main
