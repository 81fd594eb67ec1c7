// SPDX-License-Identifier: Apache-2.0

package mycnf

import (
	"strconv"

	"github.com/keelson-dev/mysql-operator/internal/version"
)

const (
	miB = int64(1) << 20
	giB = int64(1) << 30
)

// Sizes that do not follow from the memory.
const (
	// maxBinlogSize bounds the file that is scanned after a crash of a primary, and what one file holds back from
	// being purged on a small volume (the server's default is 1 GiB).
	maxBinlogSize = 256 * miB
	// binlogDays is how long an instance that was away can catch up without a clone.
	binlogDays = 7
	// assumedLimit stands in for a missing memory limit: small, because nobody promised more.
	assumedLimit = giB
)

// defaults returns the settings that mysql.config may replace, in the order of my.cnf.
func defaults(in Input) []option {
	limit := in.MemoryLimit
	if limit <= 0 {
		limit = assumedLimit
	}
	pool := bufferPool(limit)
	openTables := clamp(limit/miB, 400, 8000)
	out := []option{
		size("innodb_buffer_pool_size", pool.bytes),
		number("innodb_buffer_pool_instances", pool.instances),
		size("innodb_redo_log_capacity", clamp(roundDown(limit/4, 64*miB), 128*miB, 4*giB)),
		size("innodb_log_buffer_size", clamp(roundDown(limit/64, miB), 8*miB, 64*miB)),
		number("max_connections", clamp(limit/(8*miB), 100, 4000)),
		number("table_open_cache", openTables),
		number("table_definition_cache", clamp(openTables/2, 400, 4000)),
		// The server takes 3 % of the node's memory, and 1 GiB at least.
		size("temptable_max_ram", clamp(roundDown(limit/32, miB), 16*miB, giB)),
	}
	out = append(out, containerAware(in.Version)...)
	return append(
		out,
		size("max_binlog_size", maxBinlogSize),
		number("binlog_expire_logs_seconds", binlogDays*24*60*60),
		number("replica_parallel_workers", 4),
		option{"tls_version", "TLSv1.2,TLSv1.3"},
		option{"log_error_services", "log_filter_internal;log_sink_internal"}, // the manager reads it and writes JSON
		number("log_error_verbosity", 2),
	)
}

// containerAware lets the server's own sizing see the container instead of the node; 8.4 does not know the variable.
// server_memory, which would do the same, stops mysqld where the limit is above the memory of the node.
func containerAware(v version.MySQL) []option {
	if v.Compare(version.MySQL{Major: 9, Minor: 7}) < 0 {
		return nil
	}
	return []option{{"container_aware", "ON"}}
}

type pool struct{ bytes, instances int64 }

// bufferPool returns three quarters of what is left beside mysqld's own needs. Those were measured on 9.7.4: 310 MiB
// resident with an empty pool, 100 connections and performance_schema; 400 MiB leaves room for the connections' memory.
//
// The server rounds the pool up to a multiple of chunk × instances: with 128 MiB chunks and 8 instances by up to
// 1 GiB, beyond the limit. So both are chosen here, and the pool is rounded down to fit them.
func bufferPool(limit int64) pool {
	const reserved, chunk, smallest = 400 * miB, 128 * miB, 64 * miB
	want := (limit - reserved) / 4 * 3
	instances := clamp(want/giB, 1, 8)
	if want < chunk {
		return pool{bytes: smallest, instances: 1}
	}
	return pool{bytes: roundDown(want, chunk*instances), instances: instances}
}

func clamp(n, low, high int64) int64 { return min(max(n, low), high) }

func roundDown(n, unit int64) int64 { return n / unit * unit }

func number(name string, n int64) option { return option{name, strconv.FormatInt(n, 10)} }

// size writes bytes in the largest unit that divides them, as a person would.
func size(name string, n int64) option {
	switch {
	case n%giB == 0:
		return option{name, strconv.FormatInt(n/giB, 10) + "G"}
	case n%miB == 0:
		return option{name, strconv.FormatInt(n/miB, 10) + "M"}
	}
	return number(name, n)
}
