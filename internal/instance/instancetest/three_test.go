// SPDX-License-Identifier: Apache-2.0

package instancetest

import (
	"testing"
)

// TestThreeInstances makes one cluster of three and lets it live through everything, one thing after the other.
func TestThreeInstances(t *testing.T) {
	w := newWorld(t, 3)
	w.build(3)
	w.connect("db-0").exec("CREATE TABLE ledger (id INT PRIMARY KEY)")
	for _, scenario := range []struct {
		name string
		run  func(*world)
	}{
		{"writes are on all members and sets are equal", writesAreOnAll},
		{"network accounts need TLS", networkAccountsNeedTLS},
		{"callers are checked", callersAreChecked},
		{"probes and metrics", probesAndMetrics},
		{"secrets are not left lying", secretsAreNotLeftLying},
		{"a replica that crashes comes back by itself", replicaCrashes},
		{"a primary that crashes opens only when members hold its set", primaryCrashes},
		{"a forgotten GTID is never given out again", forgottenGTID},
		{"frozen logins are freed", frozenLogins},
		{"a shrink behind a statement about accounts", shrinkBehindAnAccountStatement},
		{"persisted variables do not count", persistedVariablesDoNotCount},
		{"a replica that stops leaves first", replicaLeavesFirst},
		{"a primary stops cleanly", primaryStopsCleanly},
		{"a primary is killed while a commit waits", primaryIsKilledWhileACommitWaits},
		{"a primary that hangs is killed", primaryThatHangsIsKilled},
		{"an open primary is closed by order", openPrimaryIsClosedByOrder},
		{"a primary is closed before it stops waiting", primaryIsClosedBeforeItStopsWaiting},
		{"complete binlogs are not read again", logsAreMarked},
		{"a primary resumes when all peers confirm", primaryResumes},
	} {
		ok := t.Run(scenario.name, func(t *testing.T) {
			w.t = t
			scenario.run(w)
		})
		w.t = t
		if !ok {
			t.Fatal("what follows would build on a cluster in an unknown state")
		}
	}
}
