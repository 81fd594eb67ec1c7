// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	// callTimeout bounds what mysqld answers from memory.
	callTimeout = 3 * time.Second
	// loginTimeout bounds a login over the socket.
	loginTimeout = 2 * time.Second
	// connections are one for the status, one for orders, one for Nudge, and two that calls which ran into their
	// deadline have spoilt.
	connections = 5
)

// Config tells how to log in.
type Config struct {
	Socket   string
	User     string
	Password string
}

// Server is one mysqld.
type Server struct {
	db        *sql.DB
	connector driver.Connector
	password  *atomic.Pointer[string]
}

// Open returns a Server; it does not connect yet.
func Open(c Config) (*Server, error) {
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr = "unix", c.Socket
	cfg.User, cfg.Passwd = c.User, c.Password
	cfg.Timeout = loginTimeout
	cfg.InterpolateParams = true
	cfg.Logger = &mysql.NopLogger{} // errors are returned; the driver's own log lines would be unstructured
	password := &atomic.Pointer[string]{}
	password.Store(&c.Password)
	err := cfg.Apply(mysql.BeforeConnect(func(_ context.Context, one *mysql.Config) error {
		one.Passwd = *password.Load()
		return nil
	}))
	if err != nil {
		return nil, fmt.Errorf("configure connection: %w", err)
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("configure connection: %w", err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return &Server{db: db, connector: connector, password: password}, nil
}

// UsePassword makes new connections log in with that password; those that are open stay.
func (s *Server) UsePassword(password string) { s.password.Store(&password) }

// Close closes the connections.
func (s *Server) Close() error { return s.db.Close() }

// Ping tells whether mysqld lets us in and answers.
func (s *Server) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return classify("ping mysqld", s.db.PingContext(ctx))
}

// Warm opens the connections that are missing, so that they are there when nobody can log in any more.
func (s *Server) Warm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var conns []*sql.Conn
	var errs []error
	for range connections - s.db.Stats().InUse {
		c, err := s.db.Conn(ctx)
		if err != nil {
			errs = append(errs, err)
			break
		}
		conns = append(conns, c)
	}
	for _, c := range conns {
		errs = append(errs, c.Close())
	}
	return classify("open standing connections", errors.Join(errs...))
}

func (s *Server) exec(ctx context.Context, verb, statement string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := s.db.ExecContext(ctx, statement, args...)
	return classify(verb, err)
}

// local runs f on a connection whose statements are not binlogged, and with super_read_only off if it was on: account
// statements are refused under it (A6). read_only stays as it is, so nobody but the operator's own accounts could
// write meanwhile. The connection is given up if its state cannot be restored.
func (s *Server) local(ctx context.Context, verb string, f func(context.Context, *sql.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return classify(verb, err)
	}
	err = s.locally(ctx, conn, f)
	if err != nil {
		// The session's sql_log_bin is unknown now.
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	return classify(verb, errors.Join(err, ignoreDone(conn.Close())))
}

func (s *Server) locally(ctx context.Context, conn *sql.Conn, f func(context.Context, *sql.Conn) error) (err error) {
	var closed bool
	if err := conn.QueryRowContext(ctx, `SELECT @@GLOBAL.super_read_only`).Scan(&closed); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, `SET SESSION sql_log_bin = 0`); err != nil {
		return err
	}
	if closed {
		if _, err := conn.ExecContext(ctx, `SET GLOBAL super_read_only = 0, GLOBAL read_only = 1`); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.closeAgain(ctx)) }()
	}
	if err := f(ctx, conn); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, `SET SESSION sql_log_bin = 1`)
	return err
}

// closeAgain restores super_read_only on another connection and with time of its own: the first may be spoilt.
func (s *Server) closeAgain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	_, err := s.db.ExecContext(ctx, `SET GLOBAL super_read_only = 1`)
	return err
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrConnDone) || errors.Is(err, driver.ErrBadConn) {
		return nil
	}
	return err
}

// quote returns a string literal for statements that take no parameters.
func quote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`, "\x00", `\0`, "\n", `\n`, "\r", `\r`).Replace(text) + "'"
}

// quoteName returns an identifier.
func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Frozen tells whether mysqld lets nobody in: a new connection gets no answer, while those that are open work. It is
// so while a statement about accounts waits for its acknowledgement (B1).
func (s *Server) Frozen(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	conn, err := s.connector.Connect(ctx)
	if err != nil {
		return ctx.Err() != nil
	}
	_ = conn.Close() // it was only to see
	return false
}
