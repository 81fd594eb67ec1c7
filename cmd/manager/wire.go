// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	controllermetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/keelson-dev/mysql-operator/internal/conditions"
	"github.com/keelson-dev/mysql-operator/internal/controller/mysqlcluster"
	"github.com/keelson-dev/mysql-operator/internal/events"
	instances "github.com/keelson-dev/mysql-operator/internal/instance/client"
	"github.com/keelson-dev/mysql-operator/internal/kube"
	"github.com/keelson-dev/mysql-operator/internal/metrics"
	"github.com/keelson-dev/mysql-operator/internal/planner"
	"github.com/keelson-dev/mysql-operator/internal/resources"
)

// managerContainer is the operator's container in its own pod.
const managerContainer = "manager"

// addControllers constructs everything that the manager runs.
func addControllers(ctx context.Context, mgr ctrl.Manager, options *operatorOptions) error {
	features, err := addFeatures(mgr)
	if err != nil {
		return err
	}
	// A client without a cache: for what is read once, and for the OperatorCondition.
	uncached, err := client.New(mgr.GetConfig(), client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return fmt.Errorf("create uncached client: %w", err)
	}
	if err := addUpgradeable(mgr, uncached, options); err != nil {
		return err
	}
	image, err := findOperatorImage(ctx, uncached, options)
	if err != nil {
		return err
	}
	told, err := metrics.New(controllermetrics.Registry)
	if err != nil {
		return fmt.Errorf("make metrics: %w", err)
	}
	reconciler := &mysqlcluster.Reconciler{
		Client:    mgr.GetClient(),
		Uncached:  mgr.GetAPIReader(),
		Instances: mysqlcluster.NewPool(instances.NewPool(ctx)),
		Platform: resources.Platform{
			OperatorImage:     image,
			MySQLRepository:   options.mysqlRepository,
			OperatorNamespace: options.podNamespace,
			AssignsUsers:      features.AssignsUsers(),
		},
		Monitoring: features.HasPodMonitors,
		Events:     events.NewRecorder(mgr.GetEventRecorder("mysql-operator"), clock.RealClock{}),
		Metrics:    told,
		Clock:      clock.RealClock{},
		Plan:       planner.Plan,
	}

	return reconciler.SetupWithManager(mgr, mysqlcluster.Options{
		Concurrency: options.concurrency,
		RateLimiter: options.rateLimiter(),
	})
}

func addFeatures(mgr ctrl.Manager) (*kube.Features, error) {
	api, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("create discovery client: %w", err)
	}
	features := kube.NewFeatures(api, clock.RealClock{})
	if err := features.Refresh(); err != nil {
		return nil, fmt.Errorf("discover optional APIs: %w", err)
	}
	if err := mgr.Add(features); err != nil {
		return nil, fmt.Errorf("add discovery: %w", err)
	}

	return features, nil
}

// addUpgradeable tells OLM, once we lead, that the operator may be upgraded: nothing it does is lost by a restart.
func addUpgradeable(mgr ctrl.Manager, uncached client.Client, options *operatorOptions) error {
	upgradeable, err := conditions.New(uncached, options.conditionName)
	if err != nil {
		return fmt.Errorf("connect to OLM: %w", err)
	}
	err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		if err := upgradeable.Allow(ctx); err != nil {
			// OLM takes a missing condition for a yes, so this is no reason to stop serving databases.
			ctrl.Log.WithName("setup").Error(err, "Telling OLM that upgrades are welcome")
		}

		return nil
	}))
	if err != nil {
		return fmt.Errorf("add OLM condition: %w", err)
	}

	return nil
}

// findOperatorImage returns the image that instances take the manager binary from: the one asked for, else that of
// the pod this process runs in. An operator outside Kubernetes must be told.
func findOperatorImage(ctx context.Context, reader client.Reader, options *operatorOptions) (string, error) {
	if options.operatorImage != "" {
		return options.operatorImage, nil
	}
	if options.podName == "" || options.podNamespace == "" {
		return "", errors.New("say with --operator-image (or OPERATOR_IMAGE) which image instances take the manager binary from: outside a pod it cannot be found out")
	}
	pod := &corev1.Pod{}
	if err := reader.Get(ctx, types.NamespacedName{Namespace: options.podNamespace, Name: options.podName}, pod); err != nil {
		return "", fmt.Errorf("find out the operator's own image: %w", err)
	}
	for _, c := range pod.Spec.Containers {
		if c.Name == managerContainer {
			return c.Image, nil
		}
	}

	return "", fmt.Errorf("pod %s has no container %s; say the image with --operator-image", options.podName, managerContainer)
}
