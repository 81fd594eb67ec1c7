// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/events"
	"github.com/keelson-dev/mysql-operator/internal/kube"
	"github.com/keelson-dev/mysql-operator/internal/metrics"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/planner"
	"github.com/keelson-dev/mysql-operator/internal/resources"
)

// Reconciler brings MySQL clusters to what their specs ask for.
type Reconciler struct {
	// Client reads from the cache.
	Client client.Client
	// Uncached reads from the API server: for compare-and-swap, and for what the cache does not select.
	Uncached  client.Reader
	Instances Instances
	Platform  resources.Platform
	// Monitoring tells whether the API has PodMonitors now.
	Monitoring func() bool
	Events     *events.Recorder
	Metrics    *metrics.Operator
	Clock      clock.PassiveClock
	// Plan decides; it is planner.Plan but in tests.
	Plan func(planner.View) planner.Decision

	credentials credentials
}

// step is one step of a reconcile. Its name is the phase in the logs.
type step struct {
	name string
	run  func(context.Context, *scope) kube.Outcome
}

// children are the steps that write the cluster's objects, in the order in which a new cluster needs them: pods wait
// for Secrets and settings that do not exist, and have no names without the headless Service.
func (r *Reconciler) children() []step {
	return []step{
		{"certificates", r.reconcileCertificates},
		{"secrets", r.reconcileSecrets},
		{"config", r.reconcileConfig},
		{"services", r.reconcileServices},
		{"policies", r.reconcilePolicies},
		{"storage", r.reconcileStorage},
		{"statefulset", r.reconcileStatefulSet},
		{"monitoring", r.reconcileMonitoring},
	}
}

// topology are the steps that decide and act. They run even if a child failed.
func (r *Reconciler) topology() []step {
	return []step{
		{"labels", r.reconcileLabels},
		{"pods", r.reconcilePods},
	}
}

// Reconcile brings one cluster nearer to its spec.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	started := r.Clock.Now()
	ctx, requests := kube.WithRequests(ctx)
	s, err := r.load(ctx, request)
	if err != nil {
		return kube.Retry(err).Result()
	}
	if s == nil {
		return ctrl.Result{}, nil
	}
	out := r.run(ctx, s)
	out = out.Merge(r.report(ctx, s))
	r.Metrics.Reconciled(metrics.Reconcile{
		Outcome:  out.Name(),
		Duration: r.Clock.Since(started),
		Reads:    requests.Reads(),
		Writes:   requests.Writes(),
	})
	return out.Result()
}

// run does everything between load and report.
func (r *Reconciler) run(ctx context.Context, s *scope) kube.Outcome {
	if err := r.observe(ctx, s); err != nil {
		return kube.Retry(err)
	}
	s.found.observed = true
	if s.cluster.DeletionTimestamp != nil {
		return r.finalize(inPhase(ctx, "delete"), s)
	}
	out := r.writeChildren(ctx, s)
	if s.invalid != nil {
		out = out.Merge(kube.Stop(s.invalid, mysqlv1.ReasonInvalidSpec))
	}
	if err := r.connect(s); err != nil {
		return out.Merge(kube.Retry(err))
	}
	if s.unheard() {
		s.found.unheard = true
		return out.Merge(kube.Wait(kube.SoonInterval, mysqlv1.ReasonPrimaryUnreachable))
	}
	s.view = buildView(s)
	s.found.decision, s.found.planned = r.Plan(s.view), true
	if s.paused {
		return out
	}
	return out.Merge(r.act(inPhase(ctx, "act"), s)).Merge(r.runSteps(ctx, s, r.topology()))
}

// writeChildren writes the objects, or only reads what the steps after it need of them.
func (r *Reconciler) writeChildren(ctx context.Context, s *scope) kube.Outcome {
	if s.mayChange() {
		return r.runSteps(ctx, s, r.children())
	}
	return r.findAuthority(ctx, s)
}

// mayChange tells whether the objects of the cluster may be written. A spec that cannot be carried out leaves them
// as they are, but the cluster is looked after.
func (s *scope) mayChange() bool { return !s.paused && s.invalid == nil }

// runSteps runs all steps, also those after one that failed, and remembers the failures for the report.
func (r *Reconciler) runSteps(ctx context.Context, s *scope, steps []step) kube.Outcome {
	out := kube.Done()
	for _, step := range steps {
		o := step.run(inPhase(ctx, step.name), s)
		if o.Err() != nil && !errors.Is(o.Err(), context.Canceled) {
			s.found.failed = append(s.found.failed, fmt.Sprintf("%s: %v", step.name, o.Err()))
		}
		out = out.Merge(o)
	}
	return out
}

func inPhase(ctx context.Context, name string) context.Context {
	return logr.NewContext(ctx, logr.FromContextOrDiscard(ctx).WithValues(naming.LogPhase, name))
}
