// SPDX-License-Identifier: Apache-2.0

package components

import (
	"path/filepath"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/layout"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/nodeinit"
)

// CSISocket is where the CSI controller answers inside the control plane.
const CSISocket = "/run/keelson-csi.sock"

// Programs says where the programs are.
type Programs struct {
	Bin   string // the programs built from modules
	Self  string // this program
	Pause string // image that holds the namespaces of each pod
}

// Timing says how fast the cluster notices things.
type Timing struct {
	Fast bool // a dead node in 10 s, not 50; the new size of a claim in 10 s, not 90
}

func (p Programs) path(name string) string { return filepath.Join(p.Bin, name) }

// Plane is the machine that runs the control plane.
func Plane(c layout.Cluster, p Programs, t Timing) nodeinit.Config {
	address := c.PlaneAddress().String()
	return nodeinit.Config{
		Hostname: c.Name + "-" + layout.Plane,
		LogDir:   c.Logs(layout.Plane),
		Services: []nodeinit.Service{
			{Name: "registry", Args: []string{p.Self, "registry", "--dir", c.Path("registry"), "--listen", c.Registry()}},
			{Name: "etcd", Args: []string{
				p.path("etcd"), "--data-dir", c.Path("etcd"), "--unsafe-no-fsync",
				"--listen-client-urls=http://127.0.0.1:2379", "--advertise-client-urls=http://127.0.0.1:2379",
				"--listen-peer-urls=http://127.0.0.1:2380", "--logger=zap", "--log-level=warn",
			}},
			{Name: "kube-apiserver", Args: apiserver(c, p)},
			{Name: "kube-controller-manager", Args: controllerManager(c, p, t)},
			{Name: "kube-scheduler", Args: []string{
				p.path("kube-scheduler"), "--kubeconfig", Kubeconfig(c, Scheduler), "--leader-elect=false",
				"--bind-address=127.0.0.1",
			}},
			// Lets the API server and the host reach Services. It borrows a node's name: that only decides which
			// endpoints count as local.
			proxy(c, p, layout.NodeName(1)),
			{Name: "coredns", Args: []string{p.path("coredns"), "-conf", c.Path("Corefile")}},
			{Name: "metrics-server", Args: metricsServer(c, p, address)},
			{Name: "csi-controller", Args: []string{p.Self, "csi-controller", "--volumes", c.Volumes(), "--socket", CSISocket}},
			{Name: "csi-provisioner", After: CSISocket, Args: []string{
				p.path("csi-provisioner"), "--csi-address", CSISocket, "--kubeconfig", Kubeconfig(c, Addons),
				"--feature-gates=Topology=true", "--strict-topology", "--extra-create-metadata", "--default-fstype=xfs",
			}},
			{Name: "csi-resizer", After: CSISocket, Args: []string{
				p.path("csi-resizer"), "--csi-address", CSISocket, "--kubeconfig", Kubeconfig(c, Addons), "--handle-volume-inuse-error=false",
			}},
		},
	}
}

func apiserver(c layout.Cluster, p Programs) []string {
	pki := func(name string) string { return c.Path("pki", name) }
	return []string{
		p.path("kube-apiserver"), "--etcd-servers=http://127.0.0.1:2379",
		"--advertise-address=" + c.PlaneAddress().String(), "--secure-port=6443",
		"--service-cluster-ip-range=" + c.Services().String(),
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
		"--client-ca-file=" + pki("ca.crt"),
		"--tls-cert-file=" + pki("apiserver.crt"), "--tls-private-key-file=" + pki("apiserver.key"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + pki("sa.pub"), "--service-account-signing-key-file=" + pki("sa.key"),
		"--kubelet-client-certificate=" + pki("kubelet-client.crt"), "--kubelet-client-key=" + pki("kubelet-client.key"),
		"--kubelet-certificate-authority=" + pki("ca.crt"),
		// With any other kind of address `kubectl exec` looks up the node's name in a DNS that does not know it.
		"--kubelet-preferred-address-types=InternalIP",
		"--proxy-client-cert-file=" + pki("front-proxy.crt"), "--proxy-client-key-file=" + pki("front-proxy.key"),
		"--requestheader-client-ca-file=" + pki("ca.crt"), "--requestheader-allowed-names=" + FrontProxy.User,
		"--requestheader-extra-headers-prefix=X-Remote-Extra-", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-username-headers=X-Remote-User", "--enable-aggregator-routing=true",
	}
}

func controllerManager(c layout.Cluster, p Programs, t Timing) []string {
	kubeconfig := Kubeconfig(c, ControllerManager)
	args := []string{
		p.path("kube-controller-manager"), "--kubeconfig", kubeconfig,
		"--authentication-kubeconfig", kubeconfig, "--authorization-kubeconfig", kubeconfig,
		"--service-account-private-key-file", c.Path("pki", "sa.key"), "--root-ca-file", c.Path("pki", "ca.crt"),
		"--cluster-signing-cert-file", c.Path("pki", "ca.crt"), "--cluster-signing-key-file", c.Path("pki", "ca.key"),
		"--use-service-account-credentials=true", "--leader-elect=false", "--bind-address=127.0.0.1",
		"--cluster-cidr", c.Pods().String(), "--allocate-node-cidrs=false",
	}
	if t.Fast {
		args = append(args, "--node-monitor-grace-period=10s", "--node-monitor-period=1s")
	}
	return args
}

func metricsServer(c layout.Cluster, p Programs, address string) []string {
	kubeconfig := Kubeconfig(c, Addons)
	return []string{
		p.path("metrics-server"), "--kubeconfig", kubeconfig,
		"--authentication-kubeconfig", kubeconfig, "--authorization-kubeconfig", kubeconfig,
		"--bind-address", address, "--secure-port=4443",
		"--tls-cert-file", c.Path("pki", MetricsServer.File+".crt"), "--tls-private-key-file", c.Path("pki", MetricsServer.File+".key"),
		"--kubelet-preferred-address-types=InternalIP", "--kubelet-certificate-authority", c.Path("pki", "ca.crt"),
		"--metric-resolution=15s",
	}
}

func proxy(c layout.Cluster, p Programs, node string) nodeinit.Service {
	return nodeinit.Service{Name: "kube-proxy", Args: []string{
		p.path("kube-proxy"), "--kubeconfig", Kubeconfig(c, Proxy), "--hostname-override", node,
		"--cluster-cidr", c.Pods().String(), "--proxy-mode=iptables",
		"--conntrack-max-per-core=0", // The limit belongs to the host; a node must not change it.
	}}
}
