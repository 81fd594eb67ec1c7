// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"fmt"
	"strconv"
	"strings"
)

// AccountPrefix is reserved for the operator's own MySQL accounts.
const AccountPrefix = "keelson_"

// MySQL accounts. Each network account requires TLS with a client certificate of the cluster's CA.
const (
	// AccountManager is the instance manager's own, reachable through the unix socket only ('keelson'@'localhost').
	AccountManager = "keelson"
	// AccountClone is what a recipient logs in with at its donor.
	AccountClone = "keelson_clone"
	// AccountCatchup is what an instance that is not in the member list replicates with. It never acknowledges: a
	// catching-up replica whose ACK counted would release a commit that no member holds (ha-rules A4, M11).
	AccountCatchup = "keelson_catchup"
)

// AccountReplication returns the replication account of the member with that ordinal. Its password belongs to one
// incarnation, so an old incarnation of the same ordinal cannot log in and acknowledge (ha-rules F4).
func AccountReplication(ordinal int) string { return accountReplication + strconv.Itoa(ordinal) }

const accountReplication = AccountPrefix + "repl_"

// ReplicationOrdinal returns the ordinal of a replication account; ok is false for any other account.
func ReplicationOrdinal(account string) (ordinal int, ok bool) {
	rest, found := strings.CutPrefix(account, accountReplication)
	if !found {
		return 0, false
	}
	n, err := strconv.Atoi(rest)
	return n, err == nil && AccountReplication(n) == account
}

// Keys of the Secret SecretInternal.
const (
	KeyManagerPassword = "manager-password"
	KeyClonePassword   = "clone-password"
	KeyCatchupPassword = "catchup-password"
	KeyReplicationKey  = "replication-key"
)

// Keys of the Secret SecretApp.
const (
	KeyAppHost     = "host"
	KeyAppPort     = "port"
	KeyAppDatabase = "database"
	KeyAppUsername = "username"
	KeyAppPassword = "password"
	KeyAppURI      = "uri"
	KeyCACert      = "ca.crt"
	KeyCAKey       = "ca.key"
)

// Roles in certificate identities.
const (
	IdentityOperator = "operator"
	IdentityInstance = "instance"
	IdentityBackup   = "backup"
	IdentityMetrics  = "metrics"
)

// Identity returns the URI SAN of a certificate: keelson://<namespace>/<cluster>/<role>[/<instance>].
func Identity(namespace, cluster, role, instance string) string {
	id := fmt.Sprintf("keelson://%s/%s/%s", namespace, cluster, role)
	if instance != "" {
		id += "/" + instance
	}
	return id
}
