// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const prefix = "mysql_operator_"

// Cluster names one cluster as label values.
type Cluster struct{ Namespace, Name string }

// Operator is the metrics of the operator.
type Operator struct {
	reconciles     *prometheus.CounterVec
	duration       prometheus.Histogram
	requests       *prometheus.HistogramVec
	decisions      *prometheus.CounterVec
	orders         *prometheus.CounterVec
	primaryChanges *prometheus.CounterVec
	epoch          *prometheus.GaugeVec
	inSync         *prometheus.GaugeVec
	instances      *prometheus.GaugeVec
}

// New makes the metrics and registers them.
func New(registry prometheus.Registerer) (*Operator, error) {
	byCluster := []string{"namespace", "cluster"}
	m := &Operator{
		reconciles: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: prefix + "reconciles_total", Help: "Reconciles of clusters, by how they ended.",
		}, []string{"outcome"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: prefix + "reconcile_duration_seconds", Help: "Duration of one reconcile of one cluster.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 16), // 1 ms to 33 s
		}),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: prefix + "reconcile_api_requests", Help: "Requests to the API server made by one reconcile.",
			Buckets: []float64{0, 1, 2, 3, 5, 8, 13, 21, 34, 55},
		}, []string{"kind"}),
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: prefix + "decisions_total", Help: "Decisions that stored a new state or sent orders, by reason.",
		}, []string{"reason"}),
		orders: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: prefix + "orders_total", Help: "Orders sent to instances, by kind and by whether they were accepted.",
		}, []string{"kind", "result"}),
		primaryChanges: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: prefix + "primary_changes_total", Help: "Changes of a cluster's primary of record.",
		}, byCluster),
		epoch: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: prefix + "cluster_epoch", Help: "Epoch of a cluster: it rises each time the primary may change.",
		}, byCluster),
		inSync: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: prefix + "cluster_in_sync_instances", Help: "Instances that hold every acknowledged write.",
		}, byCluster),
		instances: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: prefix + "cluster_ready_instances", Help: "Instances that are Ready.",
		}, byCluster),
	}
	for _, c := range []prometheus.Collector{
		m.reconciles, m.duration, m.requests, m.decisions, m.orders, m.primaryChanges, m.epoch, m.inSync, m.instances,
	} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register metric: %w", err)
		}
	}
	return m, nil
}

// Reconcile is what one reconcile did.
type Reconcile struct {
	Outcome       string
	Duration      time.Duration
	Reads, Writes int64
}

// Reconciled records one reconcile.
func (m *Operator) Reconciled(r Reconcile) {
	m.reconciles.WithLabelValues(r.Outcome).Inc()
	m.duration.Observe(r.Duration.Seconds())
	m.requests.WithLabelValues("read").Observe(float64(r.Reads))
	m.requests.WithLabelValues("write").Observe(float64(r.Writes))
}

// Decided records a decision that was acted on.
func (m *Operator) Decided(reason string) { m.decisions.WithLabelValues(reason).Inc() }

// Ordered records an order, and what came of it: nil when the instance accepted it.
func (m *Operator) Ordered(kind string, err error) {
	result := "accepted"
	if err != nil {
		result = "refused"
	}
	m.orders.WithLabelValues(kind, result).Inc()
}

// PrimaryChanged records that a cluster's primary of record changed.
func (m *Operator) PrimaryChanged(c Cluster) {
	m.primaryChanges.WithLabelValues(c.Namespace, c.Name).Inc()
}

// State is what the gauges of a cluster show.
type State struct {
	Epoch         int64
	InSync, Ready int
}

// Observe sets the gauges of a cluster.
func (m *Operator) Observe(c Cluster, s State) {
	m.epoch.WithLabelValues(c.Namespace, c.Name).Set(float64(s.Epoch))
	m.inSync.WithLabelValues(c.Namespace, c.Name).Set(float64(s.InSync))
	m.instances.WithLabelValues(c.Namespace, c.Name).Set(float64(s.Ready))
}

// Forget drops the series of a cluster that is gone, or they would be scraped for ever.
func (m *Operator) Forget(c Cluster) {
	labels := prometheus.Labels{"namespace": c.Namespace, "cluster": c.Name}
	m.primaryChanges.Delete(labels)
	m.epoch.Delete(labels)
	m.inSync.Delete(labels)
	m.instances.Delete(labels)
}
