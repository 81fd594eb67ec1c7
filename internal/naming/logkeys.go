// SPDX-License-Identifier: Apache-2.0

package naming

// Log keys. The same thing has the same key everywhere; kinds as keys are UpperCamel, the rest lowerCamel.
const (
	LogCluster   = "MySQLCluster"
	LogInstance  = "instance"
	LogPrimary   = "primary"
	LogCandidate = "candidate"
	LogEpoch     = "epoch"
	LogRevision  = "revision"
	LogKind      = "kind"
	LogReason    = "reason"
	LogFacts     = "facts"
	LogGTID      = "gtid"
	LogDuration  = "duration"
	LogDiff      = "diff"
	LogPhase     = "phase"
	LogStep      = "step"
)
