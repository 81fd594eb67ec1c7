// SPDX-License-Identifier: Apache-2.0

// Package gtid is the arithmetic of MySQL GTID sets, tags included: parse, union, subtract, intersect, contains,
// equality and canonical text. It is pure, and its answers are those of the server's GTID_SUBSET and GTID_SUBTRACT
// (MySQL 9.7 Reference Manual, 19.1.3.1 "GTID Format and Storage").
package gtid
