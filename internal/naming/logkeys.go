// SPDX-License-Identifier: Apache-2.0

package naming

// Log keys. The same thing has the same key everywhere; they are lowerCamel.
const (
	LogInstance = "instance"
	LogPrimary  = "primary"
	LogEpoch    = "epoch"
	LogRevision = "revision"
	LogKind     = "kind"
	LogReason   = "reason"
	LogFacts    = "facts"
	LogPhase    = "phase"
)
