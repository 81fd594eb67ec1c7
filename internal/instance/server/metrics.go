// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// PathMetrics is where the metrics are served.
const PathMetrics = "/metrics"

// Usage is what the metrics tell beside the snapshot.
type Usage struct {
	Restarts           int
	DiskSize, DiskFree int64
}

// Metrics returns the handler of the metrics, which are made from the newest snapshot at each scrape.
func Metrics(hub *Hub, usage func() Usage) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&collector{hub: hub, usage: usage, values: values()},
	)
	mux := http.NewServeMux()
	mux.Handle("GET "+PathMetrics, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return mux
}

// value is one metric without labels.
type value struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	// read returns the value; ok is false while it is unknown, and then nothing is told.
	read func(*wire.Snapshot, Usage) (v float64, ok bool)
}

type collector struct {
	hub    *Hub
	usage  func() Usage
	values []value
}

// Describe tells of all metrics.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, v := range c.values {
		out <- v.desc
	}
	out <- stateDesc()
	out <- roleDesc()
}

// Collect makes them.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	s, _ := c.hub.Latest()
	usage := c.usage()
	for _, v := range c.values {
		if x, ok := v.read(s, usage); ok {
			out <- prometheus.MustNewConstMetric(v.desc, v.kind, x)
		}
	}
	out <- prometheus.MustNewConstMetric(stateDesc(), prometheus.GaugeValue, 1, s.GetState().String()[len("STATE_"):])
	out <- prometheus.MustNewConstMetric(roleDesc(), prometheus.GaugeValue, 1, s.GetMarker().GetRole().String()[len("ROLE_"):])
}

func stateDesc() *prometheus.Desc {
	return prometheus.NewDesc("mysql_instance_state", "The state of the instance, as a label.", []string{"state"}, nil)
}

func roleDesc() *prometheus.Desc {
	return prometheus.NewDesc("mysql_instance_role", "The role the instance was ordered to have, as a label.", []string{"role"}, nil)
}

func values() []value {
	return []value{
		gauge("up", "Whether mysqld answers.", func(s *wire.Snapshot, _ Usage) (float64, bool) { return number(s.GetServer() != nil), true }),
		gauge("ready", "Whether the instance is ready.", func(s *wire.Snapshot, _ Usage) (float64, bool) { return number(s.GetReady()), true }),
		gauge("open", "Whether clients are let in and writes accepted.", onServer(func(s *wire.Server) float64 { return number(s.GetOpen()) })),
		gauge("epoch", "The highest epoch that was accepted.", func(s *wire.Snapshot, _ Usage) (float64, bool) {
			return float64(s.GetMarker().GetEpoch()), s.GetMarker() != nil
		}),
		gauge("revision", "The revision of the last accepted order.", func(s *wire.Snapshot, _ Usage) (float64, bool) {
			return float64(s.GetMarker().GetRevision()), s.GetMarker() != nil
		}),
		gauge("gtid_executed_transactions", "Transactions executed.", onSets(func(g *wire.GTIDs) string { return g.GetExecuted() })),
		gauge("gtid_received_transactions", "Transactions received by the replication channel.",
			onSets(func(g *wire.GTIDs) string { return g.GetReceived() })),
		gauge("semisync_clients", "Replicas connected that acknowledge.", onServer(func(s *wire.Server) float64 { return float64(s.GetClients()) })),
		gauge("semisync_waits_for", "Acknowledgements each commit waits for.", onServer(waitsFor)),
		gauge("semisync_waiting_commits", "Commits that wait for an acknowledgement now.",
			onServer(func(s *wire.Server) float64 { return float64(s.GetWaitSessions()) })),
		gauge("semisync_acknowledging", "Whether this replica acknowledges.", onServer(func(s *wire.Server) float64 { return number(s.GetReplicaStatus()) })),
		gauge("replication_lag_seconds", "How far the applier is behind.", func(s *wire.Snapshot, _ Usage) (float64, bool) {
			lag := s.GetServer().GetLagMilliseconds()
			return float64(lag) / 1000, s.GetServer() != nil && lag >= 0
		}),
		gauge("clone_received_bytes", "Bytes received of the clone that is under way.", func(s *wire.Snapshot, _ Usage) (float64, bool) {
			return float64(s.GetClone().GetBytes()), s.GetClone() != nil
		}),
		gauge("lending", "Whether a clone is being taken from this instance.", func(s *wire.Snapshot, _ Usage) (float64, bool) { return number(s.GetLending()), true }),
		gauge("disk_size_bytes", "Size of the data volume.", func(_ *wire.Snapshot, u Usage) (float64, bool) { return float64(u.DiskSize), u.DiskSize > 0 }),
		gauge("disk_free_bytes", "Free space of the data volume.", func(_ *wire.Snapshot, u Usage) (float64, bool) { return float64(u.DiskFree), u.DiskSize > 0 }),
		{
			desc: prometheus.NewDesc("mysql_instance_mysqld_ends_total", "How often mysqld ended by itself.", nil, nil),
			kind: prometheus.CounterValue,
			read: func(_ *wire.Snapshot, u Usage) (float64, bool) { return float64(u.Restarts), true },
		},
	}
}

func gauge(name, help string, read func(*wire.Snapshot, Usage) (float64, bool)) value {
	return value{desc: prometheus.NewDesc("mysql_instance_"+name, help, nil, nil), kind: prometheus.GaugeValue, read: read}
}

func onServer(f func(*wire.Server) float64) func(*wire.Snapshot, Usage) (float64, bool) {
	return func(s *wire.Snapshot, _ Usage) (float64, bool) { return f(s.GetServer()), s.GetServer() != nil }
}

func onSets(f func(*wire.GTIDs) string) func(*wire.Snapshot, Usage) (float64, bool) {
	return func(s *wire.Snapshot, _ Usage) (float64, bool) {
		if s.GetGtid() == nil {
			return 0, false
		}
		set, err := gtid.Parse(f(s.GetGtid()))
		return float64(set.Count()), err == nil
	}
}

func waitsFor(s *wire.Server) float64 {
	if !s.GetSourceEnabled() {
		return 0
	}
	return float64(s.GetWaitFor())
}

func number(b bool) float64 { return map[bool]float64{true: 1}[b] }
