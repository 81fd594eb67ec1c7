// SPDX-License-Identifier: Apache-2.0

package components

import (
	"net"
	"net/netip"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/layout"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/pki"
)

// Client is a program, or a person, that speaks to the API server or is spoken to by it.
type Client struct {
	File   string
	User   string
	Groups []string
}

// The clients that every cluster has.
var (
	Admin             = Client{File: "admin", User: "admin", Groups: []string{"system:masters"}}                   //nolint:gochecknoglobals // A constant in all but name.
	ControllerManager = Client{File: "controller-manager", User: "system:kube-controller-manager"}                 //nolint:gochecknoglobals // A constant in all but name.
	Scheduler         = Client{File: "scheduler", User: "system:kube-scheduler"}                                   //nolint:gochecknoglobals // A constant in all but name.
	Proxy             = Client{File: "proxy", User: "system:kube-proxy"}                                           //nolint:gochecknoglobals // A constant in all but name.
	Addons            = Client{File: "addons", User: "keelson-addons", Groups: []string{"system:masters"}}         //nolint:gochecknoglobals // A constant in all but name.
	KubeletClient     = Client{File: "kubelet-client", User: "kubelet-client", Groups: []string{"system:masters"}} //nolint:gochecknoglobals // A constant in all but name.
	FrontProxy        = Client{File: "front-proxy", User: "front-proxy-client"}                                    //nolint:gochecknoglobals // A constant in all but name.
	MetricsServer     = Client{File: "metrics-server", User: "metrics-server"}                                     //nolint:gochecknoglobals // A constant in all but name.
)

// Kubelet is the client of a node.
func Kubelet(n int) Client {
	name := layout.NodeName(n)
	return Client{File: name, User: "system:node:" + name, Groups: []string{"system:nodes"}}
}

// WithKubeconfig are the clients that get a kubeconfig, but for the kubelets.
func WithKubeconfig() []Client {
	return []Client{Admin, ControllerManager, Scheduler, Proxy, Addons}
}

// Kubeconfig is the path of a client's kubeconfig.
func Kubeconfig(c layout.Cluster, client Client) string {
	return c.Path("pki", client.File+".kubeconfig")
}

// Identities are all certificates of a cluster. Those of all nodes that may exist are made at once.
func Identities(c layout.Cluster) []pki.Identity {
	plane := ip(c.PlaneAddress())
	ids := []pki.Identity{
		plain(KubeletClient), plain(FrontProxy),
		{
			File: "apiserver", User: "kube-apiserver", IPs: []net.IP{plane, ip(c.APIService()), net.IPv4(127, 0, 0, 1)},
			DNS: []string{"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "localhost"},
		},
		{
			File: MetricsServer.File, User: MetricsServer.User, IPs: []net.IP{plane},
			DNS: []string{"metrics-server.kube-system.svc", "metrics-server.kube-system.svc.cluster.local"},
		},
	}
	for _, client := range WithKubeconfig() {
		ids = append(ids, plain(client))
	}
	for n := 1; n <= layout.MaxNodes; n++ {
		id := plain(Kubelet(n))
		id.DNS, id.IPs = []string{layout.NodeName(n)}, []net.IP{ip(c.NodeAddress(n))}
		ids = append(ids, id)
	}
	return ids
}

func plain(c Client) pki.Identity {
	return pki.Identity{File: c.File, User: c.User, Groups: c.Groups}
}

func ip(address netip.Addr) net.IP { return address.AsSlice() }
