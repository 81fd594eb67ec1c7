// SPDX-License-Identifier: Apache-2.0

// Package mysqld finds and runs a real MySQL server for tests. A test that has none fails and says how to get one: a
// skipped judge would let a wrong golden file pass. Only tests may import it.
package mysqld
