// SPDX-License-Identifier: Apache-2.0

// Command pause holds the namespaces of a pod and does nothing else.
package main
