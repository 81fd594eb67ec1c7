// SPDX-License-Identifier: Apache-2.0

package assets

// component is one module to build and the programs that come out of it.
type component struct {
	name     string // folder below test/devcluster/build
	tags     string // build tags
	ldflags  string
	programs map[string]string // program to package path
	links    []string          // further names of the only program, for a multi-call binary
	envtest  bool              // needed by envtest too
}

// kubernetesVersion is set in the binary; kubectl and the kubelet report it to the API server.
const kubernetesVersion = "v1.37.2"

func components() []component {
	return []component{
		{
			name:     "kubernetes",
			ldflags:  kubernetesStamp("k8s.io/component-base/version") + kubernetesStamp("k8s.io/client-go/pkg/version"),
			programs: map[string]string{"kubernetes": "."},
			links:    []string{"kube-apiserver", "kube-controller-manager", "kube-proxy", "kube-scheduler", "kubectl", "kubelet"},
			envtest:  true,
		},
		{
			name:     "etcd",
			programs: map[string]string{"etcd": "go.etcd.io/etcd/server/v3"},
			envtest:  true,
		},
	}
}

func kubernetesStamp(pkg string) string {
	return " -X " + pkg + ".gitVersion=" + kubernetesVersion + " -X " + pkg + ".gitMajor=1 -X " + pkg + ".gitMinor=37"
}
