// SPDX-License-Identifier: Apache-2.0

// Package role makes the local mysqld match the role that is stored, step by step, from what is there. It is called
// again and again; each call goes as far as it gets and says what it waits for. It knows nothing of processes.
//
//	replica:  closed → source side off → accounts locked → source asked: holds all we hold → receiver → applier → in traffic
//	primary:  backlog applied, channel gone → count → members admitted, others locked out → barrier → (open: all members
//	          hold our set and are connected to this process) → writable → online
//
// The order of the steps is the safety: see ha-rules A1, A5, A6, B3, F2, F7, F8, F9.
package role
