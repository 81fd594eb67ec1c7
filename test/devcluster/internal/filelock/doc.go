// SPDX-License-Identifier: Apache-2.0

// Package filelock keeps two processes of this machine from doing the same thing at the same time.
package filelock
