// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

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

// fillSlice bounds one call of FillEmpty: ten thousand would take longer than a manager may be silent.
const fillSlice = time.Second

// FillEmpty commits an empty transaction for each GTID of missing: what it stood for has happened here already, or
// never will, and its number must not be given out again (A2). Semi-sync must be off, or it would wait for ever. It ends
// early after a while: call it until none are missing.
func (s *Server) FillEmpty(ctx context.Context, missing []string) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return classify("fill empty transactions", err)
	}
	slice, cancel := context.WithTimeout(ctx, fillSlice)
	defer cancel()
	err = func() error {
		if _, err := conn.ExecContext(ctx, `SET GLOBAL super_read_only = 0, GLOBAL read_only = 1`); err != nil {
			return err
		}
		for _, one := range missing {
			if slice.Err() != nil {
				break
			}
			if err := fillOne(ctx, conn, one); err != nil {
				return fmt.Errorf("%s: %w", one, err)
			}
		}
		_, err := conn.ExecContext(ctx, `SET GLOBAL super_read_only = 1`)
		return err
	}()
	if err != nil {
		// The session's gtid_next is unknown now: whoever came next would write under that number.
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	return classify("fill empty transactions", errors.Join(err, ignoreDone(conn.Close())))
}

func fillOne(ctx context.Context, conn *sql.Conn, one string) error {
	return execAll(ctx, conn, []string{
		`SET SESSION gtid_next = ` + quote(one), `BEGIN`, `COMMIT`, `SET SESSION gtid_next = AUTOMATIC`,
	})
}
