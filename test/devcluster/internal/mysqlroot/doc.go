// SPDX-License-Identifier: Apache-2.0

// Package mysqlroot keeps a small Debian tree that holds MySQL: the content of the MySQL test image, and, through the
// wrapper scripts beside it, a mysqld that tests run directly on the host.
//
// The host's own C library may be older than the tree's, so the wrappers start each program through the tree's own
// dynamic loader. They exec it: the process that a test started is mysqld itself, and kill -9 means what it says.
package mysqlroot
