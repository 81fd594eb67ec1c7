// SPDX-License-Identifier: Apache-2.0

// Package kubeapi gives tests a real kube-apiserver and etcd with the product's
// custom resource definitions installed: one server per test package, started by the
// first test that asks and stopped after the last.
//
//	var server kubeapi.Server
//
//	func TestMain(m *testing.M) { server.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		c := server.Client(t)
//		namespace := server.Namespace(t)
//		…
//	}
//
// The binaries come from KUBEBUILDER_ASSETS, or are built by test/devcluster and cached.
package kubeapi
