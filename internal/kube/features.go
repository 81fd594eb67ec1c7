// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
)

// Features are the optional APIs that a Kubernetes cluster has. They are looked for at start and then now and then:
// whoever installs Prometheus' operator after ours need not restart ours.
type Features struct {
	api       discovery.ServerResourcesInterface
	clock     clock.WithTicker
	monitors  atomic.Bool
	openshift atomic.Bool
}

// NewFeatures returns the features of the cluster that api speaks to; none are known before Refresh.
func NewFeatures(api discovery.ServerResourcesInterface, c clock.WithTicker) *Features {
	return &Features{api: api, clock: c}
}

// HasPodMonitors tells whether PodMonitors of the Prometheus operator can be made.
func (f *Features) HasPodMonitors() bool { return f.monitors.Load() }

// AssignsUsers tells whether the platform gives each namespace its own UIDs, as OpenShift does.
func (f *Features) AssignsUsers() bool { return f.openshift.Load() }

// Refresh looks again.
func (f *Features) Refresh() error {
	monitors, err := f.has("monitoring.coreos.com/v1", "podmonitors")
	if err != nil {
		return err
	}
	openshift, err := f.has("security.openshift.io/v1", "securitycontextconstraints")
	if err != nil {
		return err
	}
	f.monitors.Store(monitors)
	f.openshift.Store(openshift)
	return nil
}

func (f *Features) has(groupVersion, resource string) (bool, error) {
	list, err := f.api.ServerResourcesForGroupVersion(groupVersion)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look for API %s: %w", groupVersion, err)
	}
	for _, r := range list.APIResources {
		if r.Name == resource {
			return slices.Contains(r.Verbs, "create"), nil
		}
	}
	return false, nil
}

// Start looks again now and then until ctx ends. What could not be asked stays as it was.
func (f *Features) Start(ctx context.Context) error {
	ticker := f.clock.NewTicker(FeatureInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
			if err := f.Refresh(); err != nil {
				logr.FromContextOrDiscard(ctx).Error(err, "Looking for optional APIs")
			}
		}
	}
}
