// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// Login is a member's replication account as the primary must have it.
type Login struct {
	Name     string
	Subject  string // of the only certificate it may show
	Password string // empty: as stored
}

// AdmitMembers makes, sets and unlocks the accounts of members, locks and unlocks others, all locally. Sessions of
// locked accounts are not ended by it: call Evict.
func (s *Server) AdmitMembers(ctx context.Context, logins []Login, lock, unlock []string) error {
	return s.local(ctx, "admit members", func(ctx context.Context, conn *sql.Conn) error {
		statements := locks(lock, unlock)
		for _, l := range logins {
			statements = append(statements, admit(l)...)
		}
		return execAll(ctx, conn, statements)
	})
}

func locks(lock, unlock []string) []string {
	var statements []string
	for _, name := range lock {
		statements = append(statements, fmt.Sprintf(`ALTER USER IF EXISTS %s@'%%' ACCOUNT LOCK`, quote(name)))
	}
	for _, name := range unlock {
		statements = append(statements, fmt.Sprintf(`ALTER USER IF EXISTS %s@'%%' ACCOUNT UNLOCK`, quote(name)))
	}
	return statements
}

func admit(l Login) []string {
	user := quote(l.Name) + `@'%'`
	if l.Password == "" {
		return []string{fmt.Sprintf(`ALTER USER %s ACCOUNT UNLOCK`, user)}
	}
	return []string{
		fmt.Sprintf(`CREATE USER IF NOT EXISTS %s IDENTIFIED BY %s REQUIRE SUBJECT %s ACCOUNT LOCK`, user, quote(l.Password), quote(l.Subject)),
		fmt.Sprintf(`GRANT REPLICATION SLAVE, CONNECTION_ADMIN ON *.* TO %s`, user),
		fmt.Sprintf(`ALTER USER %s IDENTIFIED BY %s REQUIRE SUBJECT %s ACCOUNT UNLOCK`, user, quote(l.Password), quote(l.Subject)),
	}
}

// SetPasswords sets the passwords of accounts (user@host) locally; one that does not exist is left out.
func (s *Server) SetPasswords(ctx context.Context, passwords map[string]string) error {
	return s.local(ctx, "set passwords", func(ctx context.Context, conn *sql.Conn) error {
		return execAll(ctx, conn, setPasswords(passwords))
	})
}

// Lock locks accounts locally.
func (s *Server) Lock(ctx context.Context, accounts []string) error {
	return s.local(ctx, "lock accounts", func(ctx context.Context, conn *sql.Conn) error {
		return execAll(ctx, conn, locks(accounts, nil))
	})
}

func execAll(ctx context.Context, conn *sql.Conn, statements []string) error {
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// Evict ends the sessions of the accounts and the logins under way that may have passed before these were locked or
// got other credentials: those with an id up to last, ConnectionsMade after that. A later login meets the lock (F9).
// It returns whether any were found: call it until none are.
func (s *Server) Evict(ctx context.Context, accounts []string, last uint64) (found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	sessions, err := s.sessions(ctx)
	if err != nil {
		return false, classify("evict sessions", err)
	}
	for _, session := range sessions {
		pending := session.User == "unauthenticated user"
		if session.ID > last || (!pending && !slices.Contains(accounts, session.User)) {
			continue
		}
		found = true
		if err := s.kill(ctx, session.ID); err != nil {
			return found, classify("evict sessions", err)
		}
	}
	return found, nil
}

// ConnectionsMade returns the newest session id that the server has handed out.
func (s *Server) ConnectionsMade(ctx context.Context) (last uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err = s.db.QueryRowContext(ctx, `SELECT VARIABLE_VALUE FROM performance_schema.global_status
		WHERE VARIABLE_NAME = 'Connections'`).Scan(&last)
	return last, classify("count connections", err)
}

func (s *Server) sessions(ctx context.Context) (list []Session, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT ID, COALESCE(USER, ''), COALESCE(HOST, '') FROM performance_schema.processlist`)
	err = each(rows, err, func() error {
		var session Session
		err := rows.Scan(&session.ID, &session.User, &session.Host)
		list = append(list, session)
		return err
	})
	return list, err
}

// KillSessions ends all sessions of one account.
func (s *Server) KillSessions(ctx context.Context, account string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	sessions, err := s.sessions(ctx)
	if err != nil {
		return classify("list sessions", err)
	}
	for _, session := range sessions {
		if session.User != account {
			continue
		}
		if err := s.kill(ctx, session.ID); err != nil {
			return classify("kill session", err)
		}
	}
	return nil
}

// DismissReplicas locks all replication accounts and ends the sessions of replicas, which could not come back before.
func (s *Server) DismissReplicas(ctx context.Context) error {
	st, err := s.Status(ctx)
	if err != nil {
		return err
	}
	var accounts []string
	for _, a := range st.Accounts {
		accounts = append(accounts, a.Name)
	}
	if err := s.Lock(ctx, accounts); err != nil {
		return err
	}
	if st, err = s.Status(ctx); err != nil {
		return err
	}
	for _, d := range st.Dumps {
		if err := s.kill(ctx, d.ID); err != nil {
			return classify("end dump thread", err)
		}
	}
	return nil
}

func (s *Server) kill(ctx context.Context, id uint64) error {
	_, err := s.db.ExecContext(ctx, fmt.Sprintf(`KILL %d`, id))
	if isNumber(err, erNoSuchThread) {
		return nil // it ended by itself
	}
	return err
}
