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
		{
			name:    "containerd",
			tags:    "no_btrfs no_zfs no_devmapper",
			ldflags: " -X github.com/containerd/containerd/v2/version.Version=v2.4.2",
			programs: map[string]string{
				"containerd":              "github.com/containerd/containerd/v2/cmd/containerd",
				"containerd-shim-runc-v2": "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2",
				"ctr":                     "github.com/containerd/containerd/v2/cmd/ctr",
			},
		},
		{
			name: "addons",
			programs: map[string]string{
				"coredns":         "./coredns",
				"csi-provisioner": "github.com/kubernetes-csi/external-provisioner/v5/cmd/csi-provisioner",
				"csi-resizer":     "github.com/kubernetes-csi/external-resizer/v2/cmd/csi-resizer",
				"metrics-server":  "sigs.k8s.io/metrics-server/cmd/metrics-server",
			},
		},
		{
			name:     "kube-router",
			programs: map[string]string{"kube-router": "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router"},
		},
	}
}

func kubernetesStamp(pkg string) string {
	return " -X " + pkg + ".gitVersion=" + kubernetesVersion + " -X " + pkg + ".gitMajor=1 -X " + pkg + ".gitMinor=37"
}
