// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
)

// Sets are the GTID sets of a server, read together.
type Sets struct {
	Executed, Owned, Received gtid.Set
}

// All returns everything the server has or is about to commit.
func (s Sets) All() gtid.Set { return s.Executed.Union(s.Owned).Union(s.Received) }

// Sets reads the sets now; owned before executed, so that a transaction that commits in between is in one of them.
func (s *Server) Sets(ctx context.Context) (Sets, error) {
	st, err := s.Status(ctx)
	if err != nil {
		return Sets{}, err
	}
	return Sets{Executed: st.Executed, Owned: st.Owned, Received: st.Channel.Received}, nil
}

// FillEmpty commits an empty transaction for each GTID of missing: what it stood for has happened here already, or
// never will, and its number must not be given out again (A2). Semi-sync must be off, or it would wait for ever.
func (s *Server) FillEmpty(ctx context.Context, missing []string) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return classify("fill empty transactions", err)
	}
	defer func() { _ = conn.Close() }() // gtid_next is automatic again, or the connection was given up
	err = func() error {
		if _, err := conn.ExecContext(ctx, `SET GLOBAL super_read_only = 0, GLOBAL read_only = 1`); err != nil {
			return err
		}
		for _, one := range missing {
			if err := fillOne(ctx, conn, one); err != nil {
				return fmt.Errorf("%s: %w", one, err)
			}
		}
		_, err := conn.ExecContext(ctx, `SET GLOBAL super_read_only = 1`)
		return err
	}()
	return classify("fill empty transactions", err)
}

func fillOne(ctx context.Context, conn *sql.Conn, one string) error {
	return execAll(ctx, conn, []string{
		`SET SESSION gtid_next = ` + quote(one), `BEGIN`, `COMMIT`, `SET SESSION gtid_next = AUTOMATIC`,
	})
}
