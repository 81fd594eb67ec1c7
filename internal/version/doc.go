// SPDX-License-Identifier: Apache-2.0

// Package version tells the operator's own version and which MySQL versions it supports.
package version
