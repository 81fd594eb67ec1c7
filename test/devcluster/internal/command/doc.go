// SPDX-License-Identifier: Apache-2.0

// Package command runs programs of the host and turns their failure into an error that says what they said.
package command
