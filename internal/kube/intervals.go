// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"math/rand/v2"
	"time"
)

const (
	// SoonInterval is the wait after a conflict: long enough for the cache to see what the other wrote.
	SoonInterval = 50 * time.Millisecond
	// ResyncInterval is how often every cluster is looked at although nothing changed. Watches make this needless;
	// it is the net under them. controller-runtime spreads it by a tenth.
	ResyncInterval = 10 * time.Hour
	// ReconcileTimeout bounds one reconcile, so that one bad cluster cannot hold a worker for ever.
	ReconcileTimeout = time.Minute
	// OrderRetryInterval is the wait before an order that had no effect is decided on again.
	OrderRetryInterval = time.Second
	// DeletionInterval is how often a deletion that waits for pods looks again; their own events come sooner.
	DeletionInterval = 10 * time.Second
	// VolumeInterval is how often a volume that grows is looked at; its own events come sooner.
	VolumeInterval = 15 * time.Second
	// ImageInterval is how often a pod that cannot start is looked at; its own events come sooner.
	ImageInterval = 30 * time.Second
	// FeatureInterval is how often the operator looks for optional APIs.
	FeatureInterval = 10 * time.Minute
)

// Jitter spreads d over a tenth more, so that clusters that were created together do not stay in step.
func Jitter(d time.Duration) time.Duration {
	if d < 10 {
		return d
	}
	return d + rand.N(d/10) //nolint:gosec // spreads load, guards nothing
}
