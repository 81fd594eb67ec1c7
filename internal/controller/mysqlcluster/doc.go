// SPDX-License-Identifier: Apache-2.0

// Package mysqlcluster reconciles MySQLCluster objects.
package mysqlcluster
