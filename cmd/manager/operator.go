// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/controller/mysqlcluster"
)

// leaderElectionID names the Lease; two releases must share it, or both would act during an upgrade.
const leaderElectionID = "mysql-operator.keelson.dev"

// operatorOptions is what the flags and the environment of `manager operator` say.
type operatorOptions struct {
	metricsAddress  string
	metricsSecure   bool
	metricsCertPath string
	probeAddress    string
	leaderElection  bool
	enableHTTP2     bool
	concurrency     int
	retryBaseDelay  time.Duration
	retryMaxDelay   time.Duration
	retryPerSecond  float64
	retryBurst      int
	watchNamespaces []string
	logging         zap.Options
}

// runOperator is `manager operator`.
func runOperator(args []string) error {
	options, err := parseOperatorOptions(args, os.Getenv)
	if err != nil {
		return err
	}
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&options.logging)))

	return startOperator(ctrl.SetupSignalHandler(), options)
}

func parseOperatorOptions(args []string, getenv func(string) string) (*operatorOptions, error) {
	o := &operatorOptions{logging: zap.Options{Development: false}}
	flags := flag.NewFlagSet("manager operator", flag.ContinueOnError)
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", "0", "Address of the metrics endpoint; 0 turns it off.")
	flags.BoolVar(&o.metricsSecure, "metrics-secure", true, "Serve metrics over HTTPS to callers whom the API server lets in.")
	flags.StringVar(&o.metricsCertPath, "metrics-cert-path", "", "Folder with tls.crt and tls.key for metrics; empty means a self-signed certificate.")
	flags.StringVar(&o.probeAddress, "health-probe-bind-address", ":8081", "Address of /healthz and /readyz.")
	flags.BoolVar(&o.leaderElection, "leader-elect", false, "Act only while holding the leader's Lease.")
	flags.BoolVar(&o.enableHTTP2, "enable-http2", false, "Allow HTTP/2 on the metrics endpoint.")
	flags.IntVar(&o.concurrency, "max-concurrent-reconciles", 4, "How many clusters are worked on at once.")
	flags.DurationVar(&o.retryBaseDelay, "rate-limit-base-delay", 5*time.Millisecond, "Wait before the first retry of one cluster; doubles with each further one.")
	flags.DurationVar(&o.retryMaxDelay, "rate-limit-max-delay", 5*time.Minute, "Longest wait between two retries of one cluster.")
	flags.Float64Var(&o.retryPerSecond, "rate-limit-qps", 10, "Retries a second over all clusters.")
	flags.IntVar(&o.retryBurst, "rate-limit-burst", 100, "Retries over all clusters that may come at once.")
	namespaces := flags.String("watch-namespace", getenv("WATCH_NAMESPACE"), "Namespaces to watch, separated by commas; empty means all. Default from WATCH_NAMESPACE.")
	o.logging.BindFlags(flags)
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("manager operator takes no argument %q", flags.Arg(0))
	}
	o.watchNamespaces = parseNamespaces(*namespaces)

	return o, o.validate()
}

func (o *operatorOptions) validate() error {
	switch {
	case o.concurrency < 1:
		return errors.New("--max-concurrent-reconciles must be at least 1")
	case o.retryBaseDelay <= 0 || o.retryMaxDelay < o.retryBaseDelay:
		return errors.New("--rate-limit-base-delay must be positive and not above --rate-limit-max-delay")
	case o.retryPerSecond <= 0 || o.retryBurst < 1:
		return errors.New("--rate-limit-qps and --rate-limit-burst must be positive")
	}

	return nil
}

// rateLimiter keeps one failing cluster from retrying in a tight loop,
// and many failing clusters from flooding the API server.
func (o *operatorOptions) rateLimiter() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](o.retryBaseDelay, o.retryMaxDelay),
		&workqueue.TypedBucketRateLimiter[reconcile.Request]{
			Limiter: rate.NewLimiter(rate.Limit(o.retryPerSecond), o.retryBurst),
		},
	)
}

func (o *operatorOptions) metrics() metricsserver.Options {
	options := metricsserver.Options{
		BindAddress:   o.metricsAddress,
		SecureServing: o.metricsSecure,
		CertDir:       o.metricsCertPath,
	}
	if o.metricsSecure {
		options.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	if !o.enableHTTP2 {
		// HTTP/2 is off because of its stream cancellation and rapid reset weaknesses
		// (GHSA-qppj-fm5r-hxr3, GHSA-4374-p667-p6c8).
		options.TLSOpts = append(options.TLSOpts, func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} })
	}

	return options
}

// parseNamespaces reads WATCH_NAMESPACE as OLM writes it: a comma separated list, empty for all namespaces.
func parseNamespaces(list string) []string {
	var namespaces []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			namespaces = append(namespaces, name)
		}
	}

	return namespaces
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("add Kubernetes types to scheme: %w", err)
	}
	if err := mysqlv1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("add MySQL types to scheme: %w", err)
	}

	return scheme, nil
}

func newManager(options *operatorOptions) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("find the API server: %w", err)
	}
	cacheOptions := cache.Options{}
	for _, namespace := range options.watchNamespaces {
		if cacheOptions.DefaultNamespaces == nil {
			cacheOptions.DefaultNamespaces = map[string]cache.Config{}
		}
		cacheOptions.DefaultNamespaces[namespace] = cache.Config{}
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 scheme,
		Cache:                  cacheOptions,
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

func startOperator(ctx context.Context, options *operatorOptions) error {
	mgr, err := newManager(options)
	if err != nil {
		return err
	}
	reconciler := &mysqlcluster.Reconciler{Client: mgr.GetClient()}
	err = reconciler.SetupWithManager(mgr, mysqlcluster.Options{
		Concurrency: options.concurrency,
		RateLimiter: options.rateLimiter(),
	})
	if err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return fmt.Errorf("add health check: %w", err)
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		return fmt.Errorf("add readiness check: %w", err)
	}
	ctrl.Log.WithName("setup").Info("Starting manager", "version", version, "namespaces", options.watchNamespaces)
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("run manager: %w", err)
	}

	return nil
}
