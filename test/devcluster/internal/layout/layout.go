// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

const (
	// MaxNodes is how many nodes a cluster may have.
	MaxNodes = 7
	// Slots is how many clusters may exist side by side.
	Slots = 16
	// Plane names the network namespace of the control plane, beside node1 … node7.
	Plane = "plane"
	// PodPrefixBits is the size of one node's range of pod addresses.
	PodPrefixBits = 24
)

// ErrArgument means that a name or number from the command line cannot be used.
var ErrArgument = errors.New("invalid argument")

var validName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,15}$`)

// Cluster is one cluster's place on the machine.
type Cluster struct {
	Name  string
	Slot  int
	State string // folder that survives `down`
}

// CheckName refuses names that would not fit in paths, cgroups and kubeconfig contexts.
func CheckName(name string) error {
	if !validName.MatchString(name) {
		return fmt.Errorf("%w: cluster name %q: use up to 16 of a-z, 0-9 and -, beginning with a letter", ErrArgument, name)
	}
	return nil
}

// CheckNodes refuses a number of nodes outside 1 … MaxNodes.
func CheckNodes(n int) error {
	if n < 1 || n > MaxNodes {
		return fmt.Errorf("%w: %d nodes: use 1 to %d", ErrArgument, n, MaxNodes)
	}
	return nil
}

// ParseNode reads a node as a person writes it: 2 or node2.
func ParseNode(text string, nodes int) (int, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(text, "node"))
	if err != nil || n < 1 || n > nodes {
		return 0, fmt.Errorf("%w: node %q: the cluster has node1 to node%d", ErrArgument, text, nodes)
	}
	return n, nil
}

// NodeName is the name of the Node object.
func NodeName(n int) string { return "node" + strconv.Itoa(n) }

// Bridge is the host's interface of the cluster's network.
func (c Cluster) Bridge() string { return "kdc" + strconv.Itoa(c.Slot) }

// Link is the host's end of the cable to a machine of the cluster.
func (c Cluster) Link(machine string) string {
	return c.Bridge() + strings.NewReplacer("node", "n", Plane, "p").Replace(machine)
}

// Network is the range that the host, the control plane and the nodes share.
func (c Cluster) Network() netip.Prefix { return netip.PrefixFrom(c.address(0), 24) }

// HostAddress is the host's address in Network.
func (c Cluster) HostAddress() netip.Addr { return c.address(1) }

// PlaneAddress is the control plane's address: API server, registry, DNS.
func (c Cluster) PlaneAddress() netip.Addr { return c.address(2) }

// NodeAddress is the address of node n.
func (c Cluster) NodeAddress(n int) netip.Addr { return c.address(byte(10 + n)) }

// Address is the address of a machine by name.
func (c Cluster) Address(machine string) netip.Addr {
	if machine == Plane {
		return c.PlaneAddress()
	}
	n, _ := strconv.Atoi(strings.TrimPrefix(machine, "node"))
	return c.NodeAddress(n)
}

// Pods is the range of all pods.
func (c Cluster) Pods() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(64 + c.Slot), 0, 0}), 16)
}

// NodePods is the range of the pods of node n.
func (c Cluster) NodePods(n int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(64 + c.Slot), byte(n), 0}), PodPrefixBits)
}

// Services is the range of ClusterIPs.
func (c Cluster) Services() netip.Prefix {
	return netip.PrefixFrom(c.service(0), 16)
}

// APIService is the ClusterIP of the Service "kubernetes".
func (c Cluster) APIService() netip.Addr { return c.service(1) }

// DNSService is the ClusterIP of the cluster's DNS.
func (c Cluster) DNSService() netip.Addr { return c.service(10) }

// Registry is host and port of the registry.
func (c Cluster) Registry() string { return netip.AddrPortFrom(c.PlaneAddress(), 5000).String() }

// APIServer is the URL of the API server.
func (c Cluster) APIServer() string {
	return "https://" + netip.AddrPortFrom(c.PlaneAddress(), 6443).String()
}

// Cgroup is the path, below each controller's mount, that everything in a node's pods belongs to.
func (c Cluster) Cgroup(machine string) string { return filepath.Join(c.CgroupParent(), machine) }

// CgroupParent holds the cgroups of all nodes.
func (c Cluster) CgroupParent() string { return "/keelson-devcluster-" + c.Name }

// Path is a path below the cluster's folder.
func (c Cluster) Path(parts ...string) string {
	return filepath.Join(append([]string{c.State}, parts...)...)
}

// Volumes is the folder with the content of every volume.
func (c Cluster) Volumes() string { return c.Path("volumes") }

// Logs is the folder with the logs of a machine's programs.
func (c Cluster) Logs(machine string) string { return c.Path("log", machine) }

// Kubeconfig is the administrator's kubeconfig.
func (c Cluster) Kubeconfig() string { return c.Path("kubeconfig") }

func (c Cluster) address(last byte) netip.Addr {
	return netip.AddrFrom4([4]byte{172, 30, byte(c.Slot), last})
}

func (c Cluster) service(last byte) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(96 + c.Slot), 0, last})
}
