// SPDX-License-Identifier: Apache-2.0

// Package archtest holds no code, only tests of the tree as a whole: who imports whom
// (and the picture of it in docs/architecture.md), what the operator may do in a cluster
// (config/rbac/expected.txt), that every package says what it is for, and that every
// file names its licence. What these tests write, `make generate` regenerates.
package archtest
