// SPDX-License-Identifier: Apache-2.0

package naming

// Paths of the probes on PortProbes.
const (
	ProbeStartup   = "/startupz"
	ProbeLiveness  = "/livez"
	ProbeReadiness = "/readyz"
)
