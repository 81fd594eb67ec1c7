// SPDX-License-Identifier: Apache-2.0

// Package mysql speaks to one mysqld over SQL, in verbs of the trade: gather its status, close and open it, point it
// at a source, manage the operator's own accounts, clone.
//
// Every call has a deadline, its context's or its own. Connections are made ahead and kept: while a CREATE USER of an
// application waits for its acknowledgement, mysqld lets nobody log in (ha-rules B1), and that is when its state must
// be known most.
//
// Statements about accounts run with sql_log_bin=0 on a connection of their own: binlogged they could wait for ever
// for the very replica that is being locked out, and they would travel to the next primary (A6).
package mysql
