// SPDX-License-Identifier: Apache-2.0

// Package validation says what is wrong with a MySQLCluster, and what to do about it. It is pure.
//
// The CEL rules of the CRD hold while no operator runs; they are said again here, word for word, because an object may
// be older than a rule, and because the operator must not act on what it would refuse. The rest is what CEL cannot say.
// A test compares the sentences of both.
package validation
