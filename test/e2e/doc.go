// SPDX-License-Identifier: Apache-2.0

// Package e2e holds the promises of the README as tests on a real Kubernetes with a real MySQL. Each test is named
// after the behaviour it shows and stands beside the manifest it applies (testdata/<behaviour>.yaml). The tests need
// a cluster with the operator installed: `make e2e-core` and `make e2e` bring up the development cluster first;
// E2E_KUBECONFIG and E2E_MYSQL_VERSION name another one, E2E_STORAGE_CLASS its StorageClass with real sizes. Build
// tag: e2e.
package e2e
