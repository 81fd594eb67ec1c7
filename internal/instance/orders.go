// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/keelson-dev/mysql-operator/internal/instance/marker"
	"github.com/keelson-dev/mysql-operator/internal/instance/mysqld"
	"github.com/keelson-dev/mysql-operator/internal/instance/server"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

var _ server.Orders = (*Manager)(nil)

func refuse(sentence string) error { return status.Error(codes.FailedPrecondition, sentence) }

// refusal turns a refusal of the marker into a gRPC status; anything else is a failure to store.
func refusal(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, marker.ErrOlder), errors.Is(err, marker.ErrOtherPrimary), errors.Is(err, marker.ErrReplaced):
		return status.Error(codes.Aborted, err.Error())
	case errors.Is(err, marker.ErrMalformed):
		return status.Error(codes.InvalidArgument, err.Error())
	case errors.Is(err, marker.ErrOtherCluster):
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	return status.Error(codes.Internal, err.Error())
}

// usable refuses what no order can be for.
func (m *Manager) usable() error {
	if why := m.barred(); why != "" {
		return refuse(why)
	}
	if m.inbox.stop {
		return refuse("the instance is stopping")
	}
	return nil
}

// Initialize stores the order and begins. A repeated order for the work that is under way is accepted.
func (m *Manager) Initialize(_ context.Context, order *wire.InitializeOrder) error {
	return m.announced(m.acceptInitialize(order))
}

func (m *Manager) acceptInitialize(order *wire.InitializeOrder) error {
	m.inbox.mu.Lock()
	defer m.inbox.mu.Unlock()
	if err := m.usable(); err != nil {
		return err
	}
	if j := m.inbox.job; j != nil {
		if j.phase == wire.State_STATE_INITIALIZING {
			return nil
		}
		return refuse("the instance is being filled by a clone")
	}
	err := m.store.Update(func(r marker.Record) (marker.Record, error) {
		if r.Initialized {
			return r, refuse("the instance has data: it is never initialised again")
		}
		if err := marker.Accept(r, order.GetOrder()); err != nil {
			return r, err
		}
		return r.WithNewData(order.GetOrder(), mysqld.NewIncarnation()), nil
	})
	if err != nil {
		return refusal(err)
	}
	m.leaveJob(&job{phase: wire.State_STATE_INITIALIZING, work: m.initialize(order)})
	return nil
}

// Clone stores the order and begins. Data is replaced only where the order names its incarnation (F5).
func (m *Manager) Clone(_ context.Context, order *wire.CloneOrder) error {
	if order.GetDonor() == "" || order.GetDonor() == m.cfg.Instance || order.GetDonorHost() == "" || order.GetDonorPort() < 1 {
		return status.Error(codes.InvalidArgument, "a clone needs another instance as donor, its host and port")
	}
	return m.announced(m.acceptClone(order))
}

func (m *Manager) acceptClone(order *wire.CloneOrder) error {
	m.inbox.mu.Lock()
	defer m.inbox.mu.Unlock()
	if err := m.usable(); err != nil {
		return err
	}
	if j := m.inbox.job; j != nil {
		if j.phase == wire.State_STATE_CLONING && j.donor == order.GetDonor() {
			return nil
		}
		return refuse("the instance is being filled already")
	}
	id := mysqld.Identity{Incarnation: mysqld.NewIncarnation()}
	err := m.store.Update(func(r marker.Record) (marker.Record, error) {
		if err := replaceable(r, order, m.cfg.Instance); err != nil {
			return r, err
		}
		if err := marker.Accept(r, order.GetOrder()); err != nil {
			return r, err
		}
		return r.WithNewData(order.GetOrder(), id.Incarnation), nil
	})
	if err != nil {
		return refusal(err)
	}
	m.leaveJob(&job{phase: wire.State_STATE_CLONING, donor: order.GetDonor(), work: m.clone(order, id)})
	return nil
}

// leaveJob leaves the job for the loop. The inbox is locked.
func (m *Manager) leaveJob(j *job) {
	j.finished = make(chan struct{})
	m.inbox.job = j
}

// replaceable tells whether the order may fill the instance.
func replaceable(r marker.Record, order *wire.CloneOrder, self string) error {
	switch {
	case !r.Initialized:
		return nil
	case order.GetReprovision() == "":
		return refuse("the instance has data: a clone must name the incarnation that it replaces")
	case order.GetReprovision() != r.Incarnation:
		return refuse("the order replaces another incarnation")
	case order.GetOrder().GetPrimary() == self:
		return refuse("the primary of the epoch is not replaced")
	}
	return nil
}

// SetRole stores the order and wakes the loop.
func (m *Manager) SetRole(_ context.Context, order *wire.RoleOrder) error {
	if err := marker.CheckRole(order, m.cfg.Instance); err != nil {
		return refusal(err)
	}
	return m.announced(m.acceptRole(order))
}

func (m *Manager) acceptRole(order *wire.RoleOrder) error {
	m.inbox.mu.Lock()
	defer m.inbox.mu.Unlock()
	if why := m.barred(); why != "" {
		return refuse(why)
	}
	if m.inbox.job != nil {
		return refuse("the instance is being filled")
	}
	err := m.store.Update(func(r marker.Record) (marker.Record, error) {
		if !r.Initialized {
			return r, refuse("the instance is empty")
		}
		if err := marker.AcceptRole(r, order); err != nil {
			return r, err
		}
		return r.WithRole(order), nil
	})
	if err != nil {
		return refusal(err)
	}
	m.note(order)
	return nil
}

// note keeps what only this process may know of an order that is stored. The inbox is locked.
func (m *Manager) note(order *wire.RoleOrder) {
	if order.GetRole() == wire.Role_ROLE_PRIMARY {
		m.inbox.confirmed = true
		if l := m.inbox.lend; l != nil && l.replica {
			l.cancel() // a winner is no donor: its applier must go on (M9)
		}
	}
	p := passwords{members: map[marker.Member]string{}, source: order.GetPassword()}
	for _, member := range order.GetMembers() {
		key := marker.Member{Name: member.GetName(), Incarnation: member.GetIncarnation()}
		p.members[key] = member.GetPassword()
		if p.members[key] == "" {
			p.members[key] = m.inbox.passwords.members[key]
		}
	}
	m.inbox.passwords = p
}

// announced publishes what was stored before the order is answered, and wakes the loop.
func (m *Manager) announced(err error) error {
	if err == nil {
		m.republish()
		m.poke()
	}
	return err
}
