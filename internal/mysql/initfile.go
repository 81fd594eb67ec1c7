// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// First are the accounts and the database of a new cluster.
type First struct {
	ManagerUser, ManagerPassword string
	CloneUser, ClonePassword     string
	CatchupUser, CatchupPassword string
	Database                     string // may be empty
	Owner, OwnerPassword         string // may be empty
}

// FirstFile returns the statements that mysqld executes while it makes a new datadir, which it does without a binlog:
// no GTID may exist before the cluster does (I9).
func FirstFile(f First) string {
	var b strings.Builder
	for _, statement := range slices.Concat(f.own(), f.application(), []string{`DROP USER IF EXISTS 'root'@'localhost'`}) {
		b.WriteString(statement + ";\n")
	}
	return b.String()
}

func (f First) own() []string {
	manager := quote(f.ManagerUser) + `@'localhost'`
	clone, catchup := quote(f.CloneUser)+`@'%'`, quote(f.CatchupUser)+`@'%'`
	return []string{
		fmt.Sprintf(`CREATE USER %s IDENTIFIED BY %s`, manager, quote(f.ManagerPassword)),
		fmt.Sprintf(`GRANT ALL ON *.* TO %s WITH GRANT OPTION`, manager),
		fmt.Sprintf(`CREATE USER %s IDENTIFIED BY %s REQUIRE X509`, clone, quote(f.ClonePassword)),
		fmt.Sprintf(`GRANT BACKUP_ADMIN, CONNECTION_ADMIN ON *.* TO %s`, clone),
		fmt.Sprintf(`CREATE USER %s IDENTIFIED BY %s REQUIRE X509 ACCOUNT LOCK`, catchup, quote(f.CatchupPassword)),
		fmt.Sprintf(`GRANT REPLICATION SLAVE, CONNECTION_ADMIN ON *.* TO %s`, catchup),
	}
}

func (f First) application() []string {
	var out []string
	if f.Database != "" {
		out = append(out, fmt.Sprintf(`CREATE DATABASE %s`, quoteName(f.Database)))
	}
	if f.Owner == "" {
		return out
	}
	owner := quote(f.Owner) + `@'%'`
	out = append(out, fmt.Sprintf(`CREATE USER %s IDENTIFIED BY %s REQUIRE SSL`, owner, quote(f.OwnerPassword)))
	if f.Database != "" {
		// _ and % are patterns in the name of a database that is granted on.
		pattern := strings.NewReplacer(`_`, `\_`, `%`, `\%`).Replace(f.Database)
		out = append(out, fmt.Sprintf(`GRANT ALL ON %s.* TO %s`, quoteName(pattern), owner))
	}
	return out
}

// InitFile returns the statements that mysqld executes at each start before it listens: passwords as the Secrets
// have them now, every replication account locked, nothing binlogged. An account that does not exist is left out.
func InitFile(passwords map[string]string, locked []string) string {
	var b strings.Builder
	b.WriteString("SET SESSION sql_log_bin = 0;\n")
	for _, statement := range setPasswords(passwords) {
		b.WriteString(statement + ";\n")
	}
	for _, user := range locked {
		fmt.Fprintf(&b, "ALTER USER IF EXISTS %s@'%%' ACCOUNT LOCK;\n", quote(user))
	}
	return b.String()
}

func setPasswords(passwords map[string]string) []string {
	var out []string
	for _, account := range slices.Sorted(maps.Keys(passwords)) {
		at := strings.LastIndex(account, "@")
		out = append(out, fmt.Sprintf(`ALTER USER IF EXISTS %s@%s IDENTIFIED BY %s`,
			quote(account[:at]), quote(account[at+1:]), quote(passwords[account])))
	}
	return out
}
