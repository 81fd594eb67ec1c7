// SPDX-License-Identifier: Apache-2.0

// Package planner decides what a cluster does next: Plan(View) Decision. It has no clock, client, log, goroutine
// or randomness, so a decision can be replayed from its view.
package planner
