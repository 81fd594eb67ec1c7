// SPDX-License-Identifier: Apache-2.0

package role

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
	"github.com/keelson-dev/mysql-operator/internal/mysql"
)

// WaitingError tells what must happen before the role is in effect; it is not a failure.
type WaitingError struct{ For string }

// Error returns the sentence.
func (w WaitingError) Error() string { return w.For }

func waitf(format string, args ...any) error { return WaitingError{For: fmt.Sprintf(format, args...)} }

// NotOpenError tells what must happen before a primary opens, whose list and count are in effect already.
type NotOpenError struct{ For string }

// Error returns the sentence.
func (n NotOpenError) Error() string { return "not open yet: " + n.For }

// ErrStuck tells that mysqld does not do what it must, and only ending its process helps (M5).
var ErrStuck = errors.New("mysqld is stuck")

// Answer is what another instance says of itself.
type Answer struct {
	ClusterUID  string
	Incarnation string
	// Held is everything it has, or is about to commit; known is false while it cannot tell.
	Held  gtid.Set
	Known bool
	// SourceUUID is the server_uuid its receiver is connected to.
	SourceUUID string
}

// Asker asks another instance, live.
type Asker interface {
	Ask(ctx context.Context, instance string) (Answer, error)
}

// Engine brings one mysqld process into its role.
type Engine struct {
	DB         *mysql.Server
	Asker      Asker
	ClusterUID string
	Memory     *Memory
	Log        logr.Logger
}

func (e *Engine) primarySteps(want Primary) []func(*pass) error {
	return []func(*pass) error{
		func(p *pass) error { return p.stopFollowing() },
		// Before the count falls: it releases commits that wait, and their writers would take them for acknowledged.
		func(p *pass) error { return p.closeFirst(want) },
		func(p *pass) error { return p.admit(want) },
		func(p *pass) error { return p.readBarrier(want) },
		func(p *pass) error { return p.open(want) },
	}
}

func (e *Engine) replicaSteps(want Replica) []func(*pass) error {
	return []func(*pass) error{
		func(p *pass) error { return p.stopServing() },
		func(p *pass) error { return p.lockAll() },
		func(p *pass) error { return p.apply(want) },
		func(p *pass) error { return p.follow(want) },
		func(p *pass) error { return p.goOnline() },
	}
}

// Primary makes it the primary, beginning with the given status. It returns the last status read, and nil once the role
// is in full effect, NotOpenError when only opening is left, WaitingError while something else must happen first.
func (e *Engine) Primary(ctx context.Context, st mysql.Status, want Primary) (mysql.Status, error) {
	return e.run(ctx, st, e.primarySteps(want))
}

// Replica makes it a replica; see Primary.
func (e *Engine) Replica(ctx context.Context, st mysql.Status, want Replica) (mysql.Status, error) {
	return e.run(ctx, st, e.replicaSteps(want))
}

func (e *Engine) run(ctx context.Context, st mysql.Status, steps []func(*pass) error) (mysql.Status, error) {
	p := &pass{Engine: e, ctx: ctx, st: st}
	for _, step := range steps {
		if err := step(p); err != nil {
			return e.Memory.told(time.Now(), p.st), err
		}
	}
	return e.Memory.told(time.Now(), p.st), nil
}

// pass is one walk through the steps.
type pass struct {
	*Engine
	ctx context.Context //nolint:containedctx // the life of one call
	st  mysql.Status
}

// did runs an act and reads the status anew, so that the next step decides from what is.
func (p *pass) did(act func(context.Context) error) error {
	if err := act(p.ctx); err != nil {
		return err
	}
	st, err := p.DB.Status(p.ctx)
	if err != nil {
		return err
	}
	p.st = st
	return nil
}
