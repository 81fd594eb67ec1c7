// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
)

// ending is how a step or a reconcile ended; a higher one is more urgent.
type ending int

const (
	done ending = iota
	stop
	wait
	retry
)

// Outcome is how a step of a reconcile ended. The zero value is Done.
type Outcome struct {
	ending ending
	after  time.Duration
	reason mysqlv1.Reason
	err    error
}

// Done means: nothing to do until something changes.
func Done() Outcome { return Outcome{} }

// Wait means: an expected delay, for that reason; look again after d.
func Wait(d time.Duration, reason mysqlv1.Reason) Outcome {
	return Outcome{ending: wait, after: max(d, SoonInterval), reason: reason}
}

// Retry means: it should have worked; try again by the rate limiter. A conflict is not worth an error: somebody
// else wrote first, and the next look sees what.
func Retry(err error) Outcome {
	if errors.Is(err, ErrHAChanged) || apierrors.IsConflict(err) {
		return Outcome{ending: wait, after: SoonInterval}
	}
	return Outcome{ending: retry, err: err}
}

// Stop means: only a person can help; err says how.
func Stop(err error, reason mysqlv1.Reason) Outcome {
	return Outcome{ending: stop, err: err, reason: reason}
}

// From returns Done for no error, else Retry.
func From(err error) Outcome {
	if err == nil {
		return Done()
	}
	return Retry(err)
}

// Merge returns the more urgent of two: a retry before a wait (of two, the shorter), that before a stop, and that
// before done. A stop must not silence a wait, or a cluster with a bad spec would not be looked after at all.
func (o Outcome) Merge(other Outcome) Outcome {
	switch {
	case other.ending > o.ending:
		return other
	case other.ending < o.ending || o.ending == done:
		return o
	case o.ending == wait:
		if other.after < o.after {
			return other
		}
		return o
	default:
		o.err = errors.Join(o.err, other.err)
		return o
	}
}

// Err returns the error of a retry or a stop.
func (o Outcome) Err() error { return o.err }

// Reason returns the reason of a wait or a stop; it may be empty.
func (o Outcome) Reason() mysqlv1.Reason { return o.reason }

// Name returns the ending in one word, for metrics and logs.
func (o Outcome) Name() string {
	switch o.ending {
	case done:
		return "done"
	case stop:
		return "stop"
	case wait:
		return "wait"
	case retry:
		return "retry"
	}
	return "unknown"
}

// Result returns what controller-runtime wants to hear.
func (o Outcome) Result() (ctrl.Result, error) {
	switch o.ending {
	case done:
		return ctrl.Result{}, nil
	case wait:
		return ctrl.Result{RequeueAfter: Jitter(o.after)}, nil
	case stop:
		return ctrl.Result{}, reconcile.TerminalError(o.err)
	case retry:
		return ctrl.Result{}, o.err
	}
	return ctrl.Result{}, o.err
}
