// SPDX-License-Identifier: Apache-2.0

package mysqld

import (
	"context"
	"crypto/rand"
	"sync/atomic"
	"time"

	"github.com/keelson-dev/mysql-operator/internal/instance/layout"
	"github.com/keelson-dev/mysql-operator/internal/instance/supervisor"
	"github.com/keelson-dev/mysql-operator/internal/mysql"
)

// Server is one process of mysqld, with connections to it.
type Server struct {
	*supervisor.Process
	DB *mysql.Server
	// StartID names this process.
	StartID string
	Started time.Time
	// Credentials are what mysqld was last told; the zero value for the throw-away server.
	Credentials layout.Credentials

	lastError *atomic.Pointer[string]
}

func newServer(p *supervisor.Process, db *mysql.Server, lastError *atomic.Pointer[string]) *Server {
	return &Server{Process: p, DB: db, StartID: rand.Text(), Started: time.Now(), lastError: lastError}
}

// SetPasswords tells the running server of changed passwords.
func (s *Server) SetPasswords(ctx context.Context, c layout.Credentials) error {
	if err := s.DB.SetPasswords(ctx, passwords(c)); err != nil {
		return err
	}
	s.DB.UsePassword(c.Manager)
	s.Credentials = c
	return nil
}

// LastError returns the last error that the server logged; empty when there was none.
func (s *Server) LastError() string {
	if text := s.lastError.Load(); text != nil {
		return *text
	}
	return ""
}

// awaitEvery is how often a starting server is asked.
const awaitEvery = 50 * time.Millisecond

// Await returns once the server answers; the error tells that it ended, or ctx did.
func (s *Server) Await(ctx context.Context) error {
	tick := time.NewTicker(awaitEvery)
	defer tick.Stop()
	for {
		if s.DB.Ping(ctx) == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.Ended():
			return s.Err()
		case <-tick.C:
		}
	}
}
