// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/conditions"
	"github.com/keelson-dev/mysql-operator/internal/controller/mysqlcluster"
	"github.com/keelson-dev/mysql-operator/internal/kube"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// leaderElectionID names the Lease; two releases must share it, or both would act during an upgrade.
const leaderElectionID = "mysql-operator.keelson.dev"

// runOperator is `manager operator`.
func runOperator(args []string) error {
	options, err := parseOperatorOptions(args, os.Getenv)
	if err != nil {
		return err
	}
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&options.logging)))

	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the API server: %w", err)
	}

	return startOperator(ctrl.SetupSignalHandler(), config, options)
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("add Kubernetes types to scheme: %w", err)
	}
	if err := mysqlv1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("add MySQL types to scheme: %w", err)
	}

	if err := conditions.AddToScheme(scheme); err != nil {
		return nil, err
	}

	return scheme, nil
}

// cacheOptions limits the cache to what is looked at: the namespaces asked for, and of the kinds that every cluster is
// full of, only the objects with our label. Nothing else of them, Secrets above all, is ever held in memory.
func cacheOptions(namespaces []string) (cache.Options, error) {
	ours, err := labels.NewRequirement(naming.LabelCluster, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, fmt.Errorf("select objects by label: %w", err)
	}
	out := cache.Options{
		SyncPeriod: new(kube.ResyncInterval),
		ByObject:   map[client.Object]cache.ByObject{},
	}
	for _, kind := range mysqlcluster.Watched() {
		out.ByObject[kind] = cache.ByObject{Label: labels.NewSelector().Add(*ours)}
	}
	for _, namespace := range namespaces {
		if out.DefaultNamespaces == nil {
			out.DefaultNamespaces = map[string]cache.Config{}
		}
		out.DefaultNamespaces[namespace] = cache.Config{}
	}

	return out, nil
}

func newManager(config *rest.Config, options *operatorOptions) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return kube.CountRequests(next) })
	cached, err := cacheOptions(options.watchNamespaces)
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme,
		Cache:  cached,
		// A reconcile that does not see what the one before it wrote would decide the same again.
		Client: client.Options{Cache: &client.CacheOptions{
			Unstructured: true, EnableReadYourWritesConsistency: new(true),
		}},
		Metrics:                options.metrics(),
		HealthProbeBindAddress: options.probeAddress,
		LeaderElection:         options.leaderElection,
		LeaderElectionID:       leaderElectionID,
		// The process ends when the manager does, so the Lease can be given back at once:
		// the standby acts within a moment instead of after the lease duration.
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, fmt.Errorf("create manager: %w", err)
	}

	return mgr, nil
}

// readyTimeout is how long a readiness check waits for caches: within the kubelet's own timeout of a second.
const readyTimeout = 500 * time.Millisecond

var errNotSynced = errors.New("caches are not filled yet")

// synced is Ready once the caches are filled, on the standby too. A process that merely listens would let a rollout
// stop the old operator before the new one knows anything.
func synced(informers cache.Informers) healthz.Checker {
	return func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), readyTimeout)
		defer cancel()
		if !informers.WaitForCacheSync(ctx) {
			return errNotSynced
		}

		return nil
	}
}

func startOperator(ctx context.Context, config *rest.Config, options *operatorOptions) error {
	mgr, err := newManager(config, options)
	if err != nil {
		return err
	}
	if err := addControllers(ctx, mgr, options); err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return fmt.Errorf("add health check: %w", err)
	}
	if err := mgr.AddReadyzCheck("readyz", synced(mgr.GetCache())); err != nil {
		return fmt.Errorf("add readiness check: %w", err)
	}
	ctrl.Log.WithName("setup").Info("Starting manager", "version", version, "namespaces", options.watchNamespaces)
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("run manager: %w", err)
	}

	return nil
}
