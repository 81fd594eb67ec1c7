// SPDX-License-Identifier: Apache-2.0

// Package mysqlcluster reconciles MySQLCluster objects in five verbs:
//
//	load ──▶ observe ──▶ children ──▶ plan ──▶ act ──▶ report
//	 │         │            │           │        │        └ conditions and status, then events and metrics
//	 │         │            │           │        └ store the decision (compare-and-swap), or send orders
//	 │         │            │           └ internal/planner decides; plan.go maps what is known to its View
//	 │         │            └ Secrets, certificates, Services, StatefulSet, …: written only when they differ
//	 │         └ pods, volume claims, and what the instances say over their streams
//	 └ the object, its finalizer, paused or not
//
// A child that fails does not stop plan and act: a missing Service must not delay a failover.
package mysqlcluster
