// SPDX-License-Identifier: Apache-2.0

package planner

// Plan decides what the cluster does next.
func Plan(View) Decision { return Decision{Reason: "Wait"} }
