// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/keelson-dev/mysql-operator/internal/conditions"
)

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
	mysqlRepository string
	operatorImage   string
	podName         string
	podNamespace    string
	conditionName   string
	logging         zap.Options
}

func parseOperatorOptions(args []string, getenv func(string) string) (*operatorOptions, error) {
	o := &operatorOptions{
		podName:       getenv("POD_NAME"),
		podNamespace:  getenv("POD_NAMESPACE"),
		conditionName: getenv(conditions.EnvName),
	}
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
	flags.StringVar(&o.mysqlRepository, "mysql-repository", "docker.io/library/mysql", "Image repository that spec.version is a tag of.")
	flags.StringVar(&o.operatorImage, "operator-image", getenv("OPERATOR_IMAGE"), "Image of this operator, from which instances take the manager binary. Default from OPERATOR_IMAGE, else the image of this pod.")
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
	case o.mysqlRepository == "":
		return errors.New("--mysql-repository must not be empty")
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
