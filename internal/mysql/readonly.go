// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"context"
	"time"
)

// closeTimeout bounds SET super_read_only, which waits behind commits that wait for an acknowledgement (B6).
const closeTimeout = 2 * time.Second

// SetReadOnly closes the server to writes. ErrTimeout means that a commit is waiting; the server may still close
// once it is released.
func (s *Server) SetReadOnly(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	_, err := s.db.ExecContext(ctx, `SET GLOBAL super_read_only = 1`)
	return classify("set read-only", err)
}

// SetOffline lets nobody in but accounts with CONNECTION_ADMIN: the operator's own, members' receivers included (F8).
func (s *Server) SetOffline(ctx context.Context, on bool) error {
	return s.exec(ctx, "set offline mode", `SET GLOBAL offline_mode = ?`, on)
}

// OpenForWrites lets clients in and accepts their writes.
func (s *Server) OpenForWrites(ctx context.Context) error {
	// Writable before reachable: the first client must not meet a read-only primary.
	if err := s.exec(ctx, "set writable", `SET GLOBAL super_read_only = 0, GLOBAL read_only = 0`); err != nil {
		return err
	}
	return s.SetOffline(ctx, false)
}

// ReloadTLS makes new connections use the certificate files as they are now; running ones are kept.
func (s *Server) ReloadTLS(ctx context.Context) error {
	if err := s.exec(ctx, "reload certificates", `ALTER INSTANCE RELOAD TLS`); err != nil {
		return err
	}
	return s.exec(ctx, "reload certificates of the administrative port", `ALTER INSTANCE RELOAD TLS FOR CHANNEL mysql_admin`)
}
