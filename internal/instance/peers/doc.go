// SPDX-License-Identifier: Apache-2.0

// Package peers is an instance's side of the questions it asks other instances, over mTLS with its own identity.
package peers
