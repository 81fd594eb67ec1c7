// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Donor is whom to clone from.
type Donor struct {
	Host     string
	Port     int
	User     string
	Password string
}

// Clone copies the donor's data into the folder, which must not exist. This server is left alone. It returns when
// the copy is complete, the donor says no, or ctx ends.
func (s *Server) Clone(ctx context.Context, d Donor, folder string) error {
	if err := s.exec(ctx, "allow donor", `SET GLOBAL clone_valid_donor_list = ?`, fmt.Sprintf("%s:%d", d.Host, d.Port)); err != nil {
		return err
	}
	_, err := s.db.ExecContext(ctx, fmt.Sprintf(`CLONE INSTANCE FROM %s@%s:%d IDENTIFIED BY %s DATA DIRECTORY = %s REQUIRE SSL`,
		quote(d.User), quote(d.Host), d.Port, quote(d.Password), quote(folder)))
	return classify("clone", err)
}

// CloneProgress tells how far the clone is that this server receives.
type CloneProgress struct {
	Stage           string
	Bytes, Estimate int64
}

// CloneProgress reads it.
func (s *Server) CloneProgress(ctx context.Context) (CloneProgress, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var p CloneProgress
	err := s.db.QueryRowContext(ctx, `SELECT COALESCE(MAX(CASE WHEN STATE = 'In Progress' THEN STAGE END), ''),
		COALESCE(SUM(DATA), 0), COALESCE(SUM(ESTIMATE), 0) FROM performance_schema.clone_progress`).
		Scan(&p.Stage, &p.Bytes, &p.Estimate)
	if errors.Is(err, sql.ErrNoRows) {
		return CloneProgress{}, nil
	}
	return p, classify("read clone progress", err)
}

// Sessions returns the sessions of one account.
func (s *Server) Sessions(ctx context.Context, account string) ([]Session, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	all, err := s.sessions(ctx)
	if err != nil {
		return nil, classify("list sessions", err)
	}
	var out []Session
	for _, session := range all {
		if session.User == account {
			out = append(out, session)
		}
	}
	return out, nil
}
