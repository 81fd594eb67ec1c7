// SPDX-License-Identifier: Apache-2.0

package instancetest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// session is a connection of the application's owner.
type session struct {
	w  *world
	db *sql.DB
}

// login describes a connection attempt over the network.
type login struct {
	user, password string
	tls            *tls.Config // nil: without TLS
}

func (w *world) owner() login {
	roots := x509.NewCertPool()
	roots.AddCert(w.ca.Certificate())
	return login{user: owner, password: w.secrets[naming.KeyAppPassword], tls: &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}}
}

func (w *world) open(name string, l login) *sql.DB {
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd, cfg.DBName = "tcp", local(w.instances[name].setup.Ports.MySQL), l.user, l.password, database
	cfg.TLS, cfg.Timeout, cfg.Logger, cfg.AllowNativePasswords = l.tls, 5*time.Second, &mysql.NopLogger{}, true
	connector, err := mysql.NewConnector(cfg)
	w.must(err)
	db := sql.OpenDB(connector)
	w.t.Cleanup(func() { _ = db.Close() })
	return db
}

func (w *world) connect(name string) *session {
	w.t.Helper()
	return &session{w: w, db: w.open(name, w.owner())}
}

func (s *session) exec(statement string) {
	s.w.t.Helper()
	if err := s.try(statement); err != nil {
		s.w.t.Fatalf("%s: %v", statement, err)
	}
}

func (s *session) try(statement string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.w.t.Context()), patience)
	defer cancel()
	_, err := s.db.ExecContext(ctx, statement)
	return err
}

// query returns rows as lines, columns parted by tabs.
func (s *session) query(statement string) string {
	s.w.t.Helper()
	ctx, cancel := context.WithTimeout(s.w.t.Context(), patience)
	defer cancel()
	rows, err := s.db.QueryContext(ctx, statement)
	if err != nil {
		s.w.t.Fatalf("%s: %v", statement, err)
	}
	defer func() { _ = rows.Close() }() // Err below tells
	columns, err := rows.Columns()
	s.w.must(err)
	var lines []string
	for rows.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		s.w.must(rows.Scan(into...))
		var line []string
		for _, v := range values {
			line = append(line, v.String)
		}
		lines = append(lines, strings.Join(line, "\t"))
	}
	s.w.must(rows.Err())
	return strings.Join(lines, "\n")
}

// admin connects as the manager's own account, over the socket.
func (w *world) admin(name string) *session {
	w.t.Helper()
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr = "unix", w.instances[name].setup.Paths.Socket()
	cfg.User, cfg.Passwd = naming.AccountManager, w.secrets[naming.KeyManagerPassword]
	cfg.Timeout, cfg.Logger = 5*time.Second, &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	w.must(err)
	db := sql.OpenDB(connector)
	db.SetMaxIdleConns(0) // it is made anew for each statement: servers end often here
	w.t.Cleanup(func() { _ = db.Close() })
	return &session{w: w, db: db}
}
