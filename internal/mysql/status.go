// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
)

// Status is what a mysqld says of itself at one moment.
type Status struct {
	Version    string
	ServerUUID string
	ServerID   uint32

	Executed, Owned, Purged gtid.Set

	ReadOnly, SuperReadOnly, Offline bool

	SourceEnabled bool // rpl_semi_sync_source_enabled
	SourceStatus  bool // Rpl_semi_sync_source_status: ON means that commits wait
	WaitFor       int
	Clients       int
	WaitSessions  int

	ReplicaEnabled bool // rpl_semi_sync_replica_enabled
	ReplicaStatus  bool

	Dumps    []Session // connected dump threads
	Accounts []Account // the operator's replication accounts
	Channel  Channel
}

// Session is a connected client.
type Session struct {
	ID   uint64
	User string
	Host string
}

// Account is an account and whether it is locked.
type Account struct {
	Name   string
	Locked bool
}

// Receiver is the state of the receiver thread.
type Receiver string

// States of the receiver.
const (
	ReceiverOff        Receiver = "No"
	ReceiverConnecting Receiver = "Connecting"
	ReceiverConnected  Receiver = "Yes"
)

// Channel is the replication channel; the zero value when there is none.
type Channel struct {
	Configured bool
	SourceHost string
	SourcePort int
	SourceUser string
	SourceUUID string

	Receiver      Receiver
	Applier       bool
	Received      gtid.Set
	ReceiverErrno int
	ReceiverError string
	ApplierError  string
	// LagSeconds of the applier; -1 when unknown.
	LagSeconds int64
}

// NeedsClone tells whether the source has purged what this server lacks, so that only a clone can help.
func (c Channel) NeedsClone() bool {
	switch c.ReceiverErrno {
	case erSourcePurged, erSourcePurgedGTIDs:
		return true
	case erSourceSaidFatal:
		// The source uses the number also to end the dump of a replica that comes with the UUID of another.
		return strings.Contains(c.ReceiverError, "fatal error 1236") && !strings.Contains(c.ReceiverError, "same server_uuid")
	}
	return false
}

// Held returns what the server has, applied or not.
func (s Status) Held() gtid.Set { return s.Executed.Union(s.Channel.Received) }

// Status gathers all of it.
func (s *Server) Status(ctx context.Context) (Status, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return Status{}, classify("gather status", err)
	}
	defer func() { _ = conn.Close() }() // back to the pool
	var st Status
	for _, gather := range []func(context.Context, *sql.Conn, *Status) error{
		gatherChannel, gatherVariables, gatherCounters, gatherDumps, gatherAccounts,
	} {
		if err := gather(ctx, conn, &st); err != nil {
			return Status{}, classify("gather status", err)
		}
	}
	return st, nil
}

func gatherVariables(ctx context.Context, conn *sql.Conn, st *Status) error {
	var executed, owned, purged string
	err := conn.QueryRowContext(ctx, `SELECT @@GLOBAL.version, @@GLOBAL.server_uuid, @@GLOBAL.server_id,
		@@GLOBAL.gtid_owned, @@GLOBAL.gtid_executed, @@GLOBAL.gtid_purged,
		@@GLOBAL.read_only, @@GLOBAL.super_read_only, @@GLOBAL.offline_mode,
		@@GLOBAL.rpl_semi_sync_source_enabled, @@GLOBAL.rpl_semi_sync_source_wait_for_replica_count,
		@@GLOBAL.rpl_semi_sync_replica_enabled`).Scan(
		&st.Version, &st.ServerUUID, &st.ServerID, &owned, &executed, &purged,
		&st.ReadOnly, &st.SuperReadOnly, &st.Offline, &st.SourceEnabled, &st.WaitFor, &st.ReplicaEnabled)
	if err != nil {
		return err
	}
	owned = owner.ReplaceAllString(owned, "")
	return errors.Join(parse(owned, &st.Owned), parse(executed, &st.Executed), parse(purged, &st.Purged))
}

// owner is how gtid_owned names the thread behind each GTID: "uuid:7#33:8#34#35".
var owner = regexp.MustCompile(`#\d+`)

func parse(text string, into *gtid.Set) (err error) {
	*into, err = gtid.Parse(text)
	return err
}

func gatherCounters(ctx context.Context, conn *sql.Conn, st *Status) error {
	rows, err := conn.QueryContext(ctx, `SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.global_status
		WHERE VARIABLE_NAME IN ('Rpl_semi_sync_source_status', 'Rpl_semi_sync_source_clients',
			'Rpl_semi_sync_source_wait_sessions', 'Rpl_semi_sync_replica_status')`)
	return each(rows, err, func() error {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return err
		}
		n, _ := strconv.Atoi(value) // ON and OFF are not numbers, and not used as such
		switch strings.ToLower(name) {
		case "rpl_semi_sync_source_status":
			st.SourceStatus = value == "ON"
		case "rpl_semi_sync_source_clients":
			st.Clients = n
		case "rpl_semi_sync_source_wait_sessions":
			st.WaitSessions = n
		case "rpl_semi_sync_replica_status":
			st.ReplicaStatus = value == "ON"
		}
		return nil
	})
}

func gatherDumps(ctx context.Context, conn *sql.Conn, st *Status) error {
	rows, err := conn.QueryContext(ctx, `SELECT ID, USER, HOST FROM performance_schema.processlist
		WHERE COMMAND LIKE 'Binlog Dump%' ORDER BY USER, ID`)
	return each(rows, err, func() error {
		var d Session
		err := rows.Scan(&d.ID, &d.User, &d.Host)
		st.Dumps = append(st.Dumps, d)
		return err
	})
}

func gatherAccounts(ctx context.Context, conn *sql.Conn, st *Status) error {
	rows, err := conn.QueryContext(ctx, `SELECT User, account_locked = 'Y' FROM mysql.user
		WHERE User LIKE 'keelson\_repl\_%' OR User = 'keelson_catchup' ORDER BY User`)
	return each(rows, err, func() error {
		var a Account
		err := rows.Scan(&a.Name, &a.Locked)
		st.Accounts = append(st.Accounts, a)
		return err
	})
}

func each(rows *sql.Rows, err error, f func() error) error {
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err below tells
	for rows.Next() {
		if err := f(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// gatherChannel reads SHOW REPLICA STATUS by column name: its columns differ between series.
func gatherChannel(ctx context.Context, conn *sql.Conn, st *Status) error {
	rows, err := conn.QueryContext(ctx, `SHOW REPLICA STATUS`)
	return each(rows, err, func() error {
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		row := make(map[string]sql.NullString, len(columns))
		for i, name := range columns {
			row[name] = values[i]
		}
		st.Channel, err = channel(row)
		return err
	})
}

// attempt counts up each second in the text of an error, which would be a change of the cluster's status each time.
var attempt = regexp.MustCompile(` ?This was attempt \d+/\d+,? with a delay of \d+ seconds between attempts\.`)

func withoutAttempt(text string) string { return attempt.ReplaceAllString(text, "") }

func channel(row map[string]sql.NullString) (Channel, error) {
	received, err := gtid.Parse(row["Retrieved_Gtid_Set"].String)
	if err != nil {
		return Channel{}, fmt.Errorf("parse received set: %w", err)
	}
	port, _ := strconv.Atoi(row["Source_Port"].String) // 0 when it is not a number: then it is not what is wanted
	errno, _ := strconv.Atoi(row["Last_IO_Errno"].String)
	lag, err := strconv.ParseInt(row["Seconds_Behind_Source"].String, 10, 64)
	if err != nil {
		lag = -1
	}
	return Channel{
		Configured: row["Source_Host"].String != "",
		SourceHost: row["Source_Host"].String, SourcePort: port,
		SourceUser: row["Source_User"].String, SourceUUID: row["Source_UUID"].String,
		Receiver: Receiver(row["Replica_IO_Running"].String), Applier: row["Replica_SQL_Running"].String == "Yes",
		Received: received, ReceiverErrno: errno, ReceiverError: withoutAttempt(row["Last_IO_Error"].String),
		ApplierError: row["Last_SQL_Error"].String, LagSeconds: lag,
	}, nil
}

// BinlogFile returns the name of the binlog file that is written now; empty when there is no binlog.
func (s *Server) BinlogFile(ctx context.Context) (file string, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var rest [4]sql.NullString
	err = s.db.QueryRowContext(ctx, `SHOW BINARY LOG STATUS`).Scan(&file, &rest[0], &rest[1], &rest[2], &rest[3])
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return file, classify("name the current binlog file", err)
}
