// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"context"
	"fmt"
	"strings"
	"time"
)

const (
	// sourceRetry and heartbeat: a receiver notices a lost source within some seconds and is back within one.
	sourceRetry = 1
	heartbeat   = 1
	// stopTimeout bounds STOP REPLICA, which waits for the event group being written or applied (M5).
	stopTimeout = 10 * time.Second
)

// Source is whom to follow, and as whom.
type Source struct {
	Host     string
	Port     int
	User     string
	Password string // empty: as stored
	// First tells that there is no channel yet. What only a first configuration may set is set then.
	First bool
	// CA, Cert and Key are files: the source's certificate is verified, and ours is shown.
	CA, Cert, Key string
}

// ConfigureSource points the receiver, which must be stopped, at a source. The applier keeps running: with both
// stopped the server purges what was received and not applied (A5d).
func (s *Server) ConfigureSource(ctx context.Context, src Source) error {
	var b strings.Builder
	fmt.Fprintf(&b, `CHANGE REPLICATION SOURCE TO SOURCE_HOST = %s, SOURCE_PORT = %d, SOURCE_USER = %s`,
		quote(src.Host), src.Port, quote(src.User))
	if src.Password != "" {
		fmt.Fprintf(&b, `, SOURCE_PASSWORD = %s`, quote(src.Password))
	}
	if src.First {
		b.WriteString(`, SOURCE_AUTO_POSITION = 1`) // refused while the applier runs; it stays from then on
	}
	fmt.Fprintf(&b, `, SOURCE_CONNECT_RETRY = %d, SOURCE_RETRY_COUNT = 0, SOURCE_HEARTBEAT_PERIOD = %d`,
		sourceRetry, heartbeat)
	fmt.Fprintf(&b, `, SOURCE_SSL = 1, SOURCE_SSL_VERIFY_SERVER_CERT = 1, SOURCE_SSL_CA = %s, SOURCE_SSL_CERT = %s, SOURCE_SSL_KEY = %s`,
		quote(src.CA), quote(src.Cert), quote(src.Key))
	return s.exec(ctx, "configure source", b.String())
}

// StartReceiver starts the receiver.
func (s *Server) StartReceiver(ctx context.Context) error {
	return s.exec(ctx, "start receiver", `START REPLICA IO_THREAD`)
}

// StopReceiver stops the receiver and returns once it is off.
func (s *Server) StopReceiver(ctx context.Context) error {
	return s.stop(ctx, "stop receiver", `STOP REPLICA IO_THREAD`)
}

// StartApplier starts the applier.
func (s *Server) StartApplier(ctx context.Context) error {
	return s.exec(ctx, "start applier", `START REPLICA SQL_THREAD`)
}

// StopApplier stops the applier and returns once it is off.
func (s *Server) StopApplier(ctx context.Context) error {
	return s.stop(ctx, "stop applier", `STOP REPLICA SQL_THREAD`)
}

func (s *Server) stop(ctx context.Context, verb, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	_, err := s.db.ExecContext(ctx, statement)
	return classify(verb, err)
}

// ForgetSource removes the channel with its relay logs: only for a server that has applied all it received.
func (s *Server) ForgetSource(ctx context.Context) error {
	return s.exec(ctx, "forget source", `RESET REPLICA ALL`)
}

// SetAcknowledging switches the replica side of semi-sync; it takes effect when the receiver is started.
func (s *Server) SetAcknowledging(ctx context.Context, on bool) error {
	return s.exec(ctx, "set acknowledging", `SET GLOBAL rpl_semi_sync_replica_enabled = ?`, on)
}

// WaitForAcks makes every commit wait for that many acknowledgements; 0 switches waiting off, which releases
// commits that wait now.
func (s *Server) WaitForAcks(ctx context.Context, count int) error {
	if count == 0 {
		return s.exec(ctx, "switch waiting off", `SET GLOBAL rpl_semi_sync_source_enabled = 0`)
	}
	// The count first: enabled with the old, smaller count, a commit in between would be released too early.
	if err := s.exec(ctx, "set ack count", `SET GLOBAL rpl_semi_sync_source_wait_for_replica_count = ?`, count); err != nil {
		return err
	}
	return s.exec(ctx, "switch waiting on", `SET GLOBAL rpl_semi_sync_source_enabled = 1`)
}

// Nudge commits a transaction that changes nothing, and returns once it is acknowledged: it has no deadline of its own,
// since a session that waits for an acknowledgement goes on waiting when its client has gone.
func (s *Server) Nudge(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, `FLUSH OPTIMIZER_COSTS`)
	return classify("commit a transaction that changes nothing", err)
}
