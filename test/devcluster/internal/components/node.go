// SPDX-License-Identifier: Apache-2.0

package components

import (
	"fmt"
	"strconv"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/layout"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/nodeinit"
)

const (
	containerdSocket = "/run/containerd/containerd.sock"
	// kubeletRoot is where every kubelet keeps its pods: the ordinary place, bound to a folder of the node's own.
	kubeletRoot = "/var/lib/kubelet"
	// CSIName is the name of the CSI driver.
	CSIName = "loop.csi.keelson.dev"
)

// Node is the machine that runs node n.
func Node(c layout.Cluster, p Programs, n int) nodeinit.Config {
	name := layout.NodeName(n)
	return nodeinit.Config{
		Hostname: name,
		LogDir:   c.Logs(name),
		// The ordinary places of a node's files, so that what mounts host paths works as on any node.
		Binds: []nodeinit.Bind{
			{Source: c.Path(name, "kubelet"), Target: kubeletRoot},
			{Source: c.Path(name, "pods"), Target: "/var/log/pods"},
			{Source: c.Path(name, "containers"), Target: "/var/log/containers"},
		},
		Services: []nodeinit.Service{
			{
				Name: "containerd", Args: []string{p.path("containerd"), "--config", c.Path(name, "containerd.toml")},
				Env: []string{"PATH=" + p.Bin + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
			},
			{Name: "kubelet", After: containerdSocket, Args: []string{
				p.path("kubelet"), "--config", c.Path(name, "kubelet.yaml"), "--kubeconfig", Kubeconfig(c, Kubelet(n)),
				"--hostname-override", name, "--node-ip", c.NodeAddress(n).String(), "--root-dir", kubeletRoot, "--cert-dir", c.Path(name, "certs"),
				"--node-labels", "topology.kubernetes.io/region=dev,topology.kubernetes.io/zone=zone" + strconv.Itoa(n),
			}},
			proxy(c, p, name),
			{Name: "kube-router", After: containerdSocket, Args: []string{
				// Only its firewall: it enforces NetworkPolicy between pods that are routed (see cni).
				p.path("kube-router"), "--kubeconfig", Kubeconfig(c, Addons), "--hostname-override", name,
				"--run-firewall=true", "--run-router=false", "--run-service-proxy=false", "--run-loadbalancer=false",
				"--service-cluster-ip-range", c.Services().String(), "--enable-ipv6=false", "--health-port=0",
			}},
			{Name: "csi-node", After: kubeletRoot + "/plugins_registry", Args: []string{
				p.Self, "csi-node", "--node", name, "--volumes", c.Volumes(), "--kubelet", kubeletRoot,
			}},
		},
	}
}

// NodeFiles are the configuration files of node n, by path.
func NodeFiles(c layout.Cluster, p Programs, n int, t Timing) map[string]string {
	name := layout.NodeName(n)
	return map[string]string{
		c.Path(name, "containerd.toml"):            containerd(c, p, name),
		c.Path(name, "kubelet.yaml"):               kubelet(c, name, t),
		c.Path(name, "cni", "10-keelson.conflist"): cni(c, n),
	}
}

// PlaneFiles are the configuration files that the machines share, by path.
func PlaneFiles(c layout.Cluster) map[string]string {
	mirror := fmt.Sprintf("server = \"http://%[1]s\"\n\n[host.\"http://%[1]s\"]\n  capabilities = [\"pull\", \"resolve\"]\n", c.Registry())
	return map[string]string{
		c.Path("Corefile"):                          fmt.Sprintf(corefile, Kubeconfig(c, Addons)),
		c.Path("resolv.conf"):                       "nameserver " + c.PlaneAddress().String() + "\n",
		c.Path("certs.d", "_default", "hosts.toml"): mirror,
	}
}

const corefile = `.:53 {
    errors
    ready 127.0.0.1:8181
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        kubeconfig %s
        pods insecure
        ttl 5
    }
    cache 5
}
`

func containerd(c layout.Cluster, p Programs, name string) string {
	return fmt.Sprintf(`version = 3
root = %[1]q
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.blockfile", "io.containerd.snapshotter.v1.native", "io.containerd.snapshotter.v1.erofs", "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.tracing", "io.containerd.nri.v1.nri"]
[grpc]
  address = %[2]q
[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = %[3]q
  [plugins.'io.containerd.cri.v1.images'.registry]
    config_path = %[4]q
[plugins.'io.containerd.cri.v1.runtime']
  # A machine without CAP_SYS_RESOURCE may not lower oom_score_adj; runc dies without saying so.
  restrict_oom_score_adj = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["/usr/lib/cni"]
    conf_dir = %[5]q
  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
      BinaryName = "/usr/sbin/runc"
      SystemdCgroup = false
`, c.Path(name, "containerd"), containerdSocket, p.Pause, c.Path("certs.d"), c.Path(name, "cni"))
}

func kubelet(c layout.Cluster, name string, t Timing) string {
	text := fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: %[1]s
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: %[2]s/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: %[2]s/%[3]s.crt
tlsPrivateKeyFile: %[2]s/%[3]s.key
clusterDNS: [%[4]s]
clusterDomain: cluster.local
resolvConf: %[5]s
containerRuntimeEndpoint: unix://%[6]s
# The nodes share the host's disk: what fills it up is hardly ever on the node that would evict its pods.
evictionHard: {imagefs.available: "1%%", nodefs.available: "1%%"}
imageGCHighThresholdPercent: 100
failSwapOn: false
`, c.Cgroup(name), c.Path("pki"), name, c.DNSService(), c.Path("resolv.conf"), containerdSocket)
	if t.Fast {
		text += "nodeStatusUpdateFrequency: 2s\nnodeLeaseDurationSeconds: 8\nsyncFrequency: 5s\n"
	}
	return text
}

// cni routes every packet between pods through the node (ptp), also between two pods of one node. On a bridge the
// answers of a Service's pod would bypass address translation where the kernel lacks br_netfilter.
func cni(c layout.Cluster, n int) string {
	return fmt.Sprintf(`{"cniVersion": "1.0.0", "name": "keelson", "plugins": [
  {"type": "ptp", "ipMasq": false, "ipam": {"type": "host-local", "dataDir": "/run/cni-ipam",
    "ranges": [[{"subnet": "%s"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
`, c.NodePods(n))
}
