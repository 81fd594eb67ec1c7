// SPDX-License-Identifier: Apache-2.0

// Command images makes the project's container images as OCI archives, without Docker.
package main
