// SPDX-License-Identifier: Apache-2.0

// Package mycnf turns the settings of a cluster into what mysqld is started with. It is pure.
//
// There are two places, and which option goes where is a matter of safety, not of taste:
//
//   - Render writes my.cnf: sizes that follow from the memory limit, and the user's mysql.config over them.
//   - SafetyFlags gives mysqld's command line: all that the safety of the data rests on. SET PERSIST beats my.cnf but
//     not the command line (ha-rules C5: a primary that crashes must not come back writable before it has its role).
//
// The variables of the second place are owned: OwnedKeys lists them with the reason, Owned is asked by validation and
// again by Render, and CELRules writes the same list for the API server. docs/reference/config.md is generated from it.
package mycnf
