// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/instance/layout"
	"github.com/keelson-dev/mysql-operator/internal/instance/marker"
	"github.com/keelson-dev/mysql-operator/internal/instance/mysqld"
	"github.com/keelson-dev/mysql-operator/internal/mysql"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// RemoveLeftovers removes what an interrupted Initialize or Clone left behind.
func RemoveLeftovers(p layout.Paths) error {
	return removeAll(p.Incoming(), p.Scratch())
}

// RemoveData removes the datadir: only after the marker says that it is not complete.
func RemoveData(p layout.Paths) error {
	return removeAll(p.Datadir())
}

func removeAll(paths ...string) error {
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove leftovers: %w", err)
		}
	}
	return nil
}

// Initialize makes the cluster's first datadir with its accounts, and the database and its owner if they are named.
func Initialize(ctx context.Context, l *mysqld.Launcher, database, owner string) error {
	if err := errors.Join(RemoveLeftovers(l.Paths), RemoveData(l.Paths)); err != nil {
		return err
	}
	credentials, err := l.Paths.ReadCredentials()
	if err != nil {
		return err
	}
	if owner != "" && owner != credentials.Owner {
		return fmt.Errorf("the order names owner %q, the mounted Secret %q: wait for the kubelet to bring the new one", owner, credentials.Owner)
	}
	first := mysql.First{
		ManagerUser: naming.AccountManager, ManagerPassword: credentials.Manager,
		CloneUser: naming.AccountClone, ClonePassword: credentials.Clone,
		CatchupUser: naming.AccountCatchup, CatchupPassword: credentials.Catchup,
		Database: database, Owner: owner, OwnerPassword: credentials.OwnerPassword,
	}
	if err := l.Initialize(ctx, l.Paths.Incoming(), mysql.FirstFile(first)); err != nil {
		return err
	}
	return adopt(l.Paths)
}

// adopt makes the complete incoming folder the datadir.
func adopt(p layout.Paths) error {
	if err := mysqld.SyncVolume(p.Incoming()); err != nil {
		return err
	}
	if err := os.Rename(p.Incoming(), p.Datadir()); err != nil {
		return fmt.Errorf("name datadir: %w", err)
	}
	return marker.SyncDir(p.Data)
}

// Source is the donor of a clone.
type Source struct {
	Host string
	Port int
}

// Prepare makes the datadir of the throw-away server that will receive a clone. It needs no donor, and is half of the
// time that a small clone takes, so an instance does it while it waits to be told what to become.
func Prepare(ctx context.Context, l *mysqld.Launcher) error {
	if err := RemoveLeftovers(l.Paths); err != nil {
		return err
	}
	return l.Initialize(ctx, l.Paths.Scratch(), "")
}

// StartScratch starts the throw-away server.
func StartScratch(ctx context.Context, l *mysqld.Launcher) (*mysqld.Server, error) {
	scratch, err := l.StartScratch()
	if err != nil {
		return nil, err
	}
	if err := scratch.Await(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start scratch server: %w", err), scratch.Kill(), scratch.DB.Close())
	}
	return scratch, nil
}

// Clone receives the donor's data through the throw-away server and makes it the datadir. progress is told now and then.
func Clone(ctx context.Context, l *mysqld.Launcher, scratch *mysqld.Server, s Source, progress func(mysql.CloneProgress)) error {
	credentials, err := l.Paths.ReadCredentials()
	if err != nil {
		return err
	}
	donor := mysql.Donor{Host: s.Host, Port: s.Port, User: naming.AccountClone, Password: credentials.Clone}
	done := make(chan error, 1)
	go func() { done <- scratch.DB.Clone(ctx, donor, l.Paths.Incoming()) }()
	if err := watch(ctx, scratch, done, progress); err != nil {
		return err
	}
	if err := Discard(scratch); err != nil {
		return err
	}
	if err := os.RemoveAll(l.Paths.Scratch()); err != nil {
		return fmt.Errorf("remove scratch server: %w", err)
	}
	return adopt(l.Paths)
}

// progressEvery is how often the progress of a clone is read.
const progressEvery = 500 * time.Millisecond

// stallTimeout is how long no byte may come: the donor keeps its applier stopped, and a clone that meets DDL there can
// wait for ever.
const stallTimeout = 30 * time.Second

// stall watches the copying stages; the others (writing to the disk, removing) move no bytes.
type stall struct {
	last  mysql.CloneProgress
	since time.Time
}

func (s *stall) stands(p mysql.CloneProgress, now time.Time) bool {
	if s.since.IsZero() || p != s.last || !strings.HasSuffix(p.Stage, "COPY") {
		s.last, s.since = p, now
	}
	return now.Sub(s.since) >= stallTimeout
}

func watch(ctx context.Context, scratch *mysqld.Server, done <-chan error, progress func(mysql.CloneProgress)) error {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	var s stall
	for {
		select {
		case err := <-done:
			return err
		case <-scratch.Ended():
			return errors.Join(errors.New("scratch server ended during the clone"), scratch.Err(), <-done)
		case <-tick.C:
			if p, err := scratch.DB.CloneProgress(ctx); err == nil {
				progress(p)
				if s.stands(p, time.Now()) {
					// Its connections end with it, and the donor, which is given back, ends its own side.
					return fmt.Errorf("the clone made no progress for %s", stallTimeout)
				}
			}
		}
	}
}

// Discard ends the throw-away server at once: its own data is worth nothing, and what it wrote of the clone is with
// the kernel.
func Discard(scratch *mysqld.Server) error {
	_ = scratch.DB.Close() // the server goes away
	return scratch.Kill()
}
