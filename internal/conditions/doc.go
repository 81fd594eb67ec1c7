// SPDX-License-Identifier: Apache-2.0

// Package conditions tells OLM whether the operator may be upgraded now, by the condition Upgradeable of its
// OperatorCondition. Outside OLM it does nothing.
package conditions
