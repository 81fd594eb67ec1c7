// SPDX-License-Identifier: Apache-2.0

// Package mysqld starts mysqld in the three ways an instance needs it: to make a datadir, as the throw-away server that
// receives a clone, and as the server that holds the data, which always comes up closed. It knows nothing of roles.
package mysqld
