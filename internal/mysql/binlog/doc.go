// SPDX-License-Identifier: Apache-2.0

// Package binlog reads what binlog and relay-log files hold without a server: which GTIDs, and whether they matter.
// It walks event headers and seeks over bodies, so gigabytes take seconds.
//
// A transaction counts once its last event is in the file. What an unclean stop left half written at the end of the
// last file is not counted: the server cuts it off at its next start.
package binlog
