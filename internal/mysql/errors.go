// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"

	"github.com/go-sql-driver/mysql"
)

// Classes of errors, for callers that branch.
var (
	// ErrUnreachable tells that there is no connection, or it broke.
	ErrUnreachable = errors.New("mysqld is unreachable")
	// ErrTimeout tells that the deadline passed. The statement may still be executed.
	ErrTimeout = errors.New("mysqld did not answer in time")
	// ErrAccessDenied tells that the account or its password was refused.
	ErrAccessDenied = errors.New("access denied")
	// ErrReadOnly tells that the server is read-only.
	ErrReadOnly = errors.New("server is read-only")
)

// Numbers of server errors.
const (
	erAccessDenied      = 1045
	erReadOnly          = 1290
	erReadOnlyMode      = 1836
	erNoSuchThread      = 1094
	erSourcePurged      = 1236
	erSourcePurgedGTIDs = 1789
	erSourceSaidFatal   = 13114 // what a receiver makes of a source's error, whose number is in the text
)

func classify(verb string, err error) error {
	if err == nil {
		return nil
	}
	if class := classOf(err); class != nil {
		return fmt.Errorf("%s: %w: %w", verb, class, err)
	}
	return fmt.Errorf("%s: %w", verb, err)
}

func classOf(err error) error {
	var my *mysql.MySQLError
	var network net.Error
	switch {
	case errors.As(err, &my):
		return classOfNumber(my.Number)
	case errors.Is(err, context.DeadlineExceeded):
		return ErrTimeout
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn), errors.As(err, &network):
		return ErrUnreachable
	}
	return nil
}

func classOfNumber(number uint16) error {
	switch number {
	case erAccessDenied:
		return ErrAccessDenied
	case erReadOnly, erReadOnlyMode:
		return ErrReadOnly
	}
	return nil
}

func isNumber(err error, number uint16) bool {
	var my *mysql.MySQLError
	return errors.As(err, &my) && my.Number == number
}
