// SPDX-License-Identifier: Apache-2.0

// Package supervisor runs processes as PID 1 must: it starts, signals and waits for its own, reaps the orphans of
// others, and turns what mysqld writes into structured log lines. It knows nothing of roles.
package supervisor
