// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/layout"
)

// inside is the name of a machine's own end of its cable.
const inside = "eth0"

// EnsureBridge makes the bridge and the host's routes to pods and Services.
func EnsureBridge(c layout.Cluster) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = c.Bridge()
	if err := netlink.LinkAdd(&netlink.Bridge{LinkAttrs: attrs}); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("create bridge: %w", err)
	}
	link, err := netlink.LinkByName(c.Bridge())
	if err != nil {
		return fmt.Errorf("find bridge: %w", err)
	}
	address := &netlink.Addr{IPNet: ipnet(c.HostAddress(), c.Network().Bits())}
	if err := netlink.AddrReplace(link, address); err != nil {
		return fmt.Errorf("set address of bridge: %w", err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("set bridge up: %w", err)
	}
	host, err := netlink.NewHandle()
	if err != nil {
		return fmt.Errorf("open netlink: %w", err)
	}
	defer host.Close()
	if err := replaceRoute(host, link, c.Services(), c.PlaneAddress()); err != nil {
		return err
	}
	return routePods(host, link, c, "")
}

// Attach runs a cable from the bridge to the machine whose first process is pid and sets up its addresses and routes.
func Attach(c layout.Cluster, machine string, pid int) error {
	bridge, err := netlink.LinkByName(c.Bridge())
	if err != nil {
		return fmt.Errorf("find bridge: %w", err)
	}
	if err := removeLink(c.Link(machine)); err != nil {
		return err
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = c.Link(machine)
	attrs.MasterIndex = bridge.Attrs().Index
	veth := &netlink.Veth{LinkAttrs: attrs, PeerName: inside, PeerNamespace: netlink.NsPid(pid)}
	if err := netlink.LinkAdd(veth); err != nil {
		return fmt.Errorf("create cable of %s: %w", machine, err)
	}
	if err := netlink.LinkSetUp(veth); err != nil {
		return fmt.Errorf("set cable of %s up: %w", machine, err)
	}
	return within(pid, func(ns *netlink.Handle) error { return configure(ns, c, machine) })
}

func configure(ns *netlink.Handle, c layout.Cluster, machine string) error {
	for _, name := range []string{"lo", inside} {
		link, err := ns.LinkByName(name)
		if err != nil {
			return fmt.Errorf("find %s of %s: %w", name, machine, err)
		}
		if name == inside {
			address := &netlink.Addr{IPNet: ipnet(c.Address(machine), c.Network().Bits())}
			if err := ns.AddrReplace(link, address); err != nil {
				return fmt.Errorf("set address of %s: %w", machine, err)
			}
		}
		if err := ns.LinkSetUp(link); err != nil {
			return fmt.Errorf("set %s of %s up: %w", name, machine, err)
		}
	}
	link, err := ns.LinkByName(inside)
	if err != nil {
		return fmt.Errorf("find cable of %s: %w", machine, err)
	}
	if err := replaceRoute(ns, link, netip.PrefixFrom(netip.IPv4Unspecified(), 0), c.HostAddress()); err != nil {
		return err
	}
	return routePods(ns, link, c, machine)
}

// routePods leads to the pods of every node that may exist, but for the machine's own.
func routePods(h *netlink.Handle, link netlink.Link, c layout.Cluster, self string) error {
	for n := 1; n <= layout.MaxNodes; n++ {
		if layout.NodeName(n) == self {
			continue
		}
		if err := replaceRoute(h, link, c.NodePods(n), c.NodeAddress(n)); err != nil {
			return err
		}
	}
	return nil
}

func replaceRoute(h *netlink.Handle, link netlink.Link, to netip.Prefix, via netip.Addr) error {
	route := &netlink.Route{LinkIndex: link.Attrs().Index, Dst: ipnet(to.Addr(), to.Bits()), Gw: via.AsSlice()}
	if err := h.RouteReplace(route); err != nil {
		return fmt.Errorf("set route to %s: %w", to, err)
	}
	return nil
}

// Unplug pulls the cable of a machine at the host's end. Attach gives a machine that starts again a new one.
func Unplug(c layout.Cluster, machine string) error {
	link, err := netlink.LinkByName(c.Link(machine))
	if err != nil {
		return fmt.Errorf("find cable of %s: %w", machine, err)
	}
	if err := netlink.LinkSetDown(link); err != nil {
		return fmt.Errorf("unplug %s: %w", machine, err)
	}
	return nil
}

// Remove takes the bridge away, with the host's routes and any cable that is left.
func Remove(c layout.Cluster) error {
	links, err := netlink.LinkList()
	if err != nil {
		return fmt.Errorf("list links: %w", err)
	}
	for _, link := range links {
		name := link.Attrs().Name
		if name == c.Link(layout.Plane) || strings.HasPrefix(name, c.Bridge()+"n") {
			if err := removeLink(name); err != nil {
				return err
			}
		}
	}
	return removeLink(c.Bridge())
}

// Taken tells whether the host already has an address or a route in one of the cluster's ranges that is not its own.
func Taken(c layout.Cluster) (bool, error) {
	routes, err := netlink.RouteList(nil, unix.AF_INET)
	if err != nil {
		return false, fmt.Errorf("list routes: %w", err)
	}
	own := -1
	if link, err := netlink.LinkByName(c.Bridge()); err == nil {
		own = link.Attrs().Index
	}
	for _, route := range routes {
		if route.Dst == nil || route.LinkIndex == own {
			continue
		}
		address, _ := netip.AddrFromSlice(route.Dst.IP.To4())
		bits, _ := route.Dst.Mask.Size()
		to := netip.PrefixFrom(address, bits)
		if bits > 0 && (to.Overlaps(c.Network()) || to.Overlaps(c.Pods()) || to.Overlaps(c.Services())) {
			return true, nil
		}
	}
	return false, nil
}

func removeLink(name string) error {
	link, err := netlink.LinkByName(name)
	if _, missing := errors.AsType[netlink.LinkNotFoundError](err); missing {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find link %s: %w", name, err)
	}
	if err := netlink.LinkDel(link); err != nil && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("remove link %s: %w", name, err)
	}
	return nil
}

func within(pid int, do func(*netlink.Handle) error) error {
	ns, err := netns.GetFromPid(pid)
	if err != nil {
		return fmt.Errorf("open network of process %d: %w", pid, err)
	}
	defer func() { _ = ns.Close() }()
	h, err := netlink.NewHandleAt(ns)
	if err != nil {
		return fmt.Errorf("open netlink: %w", err)
	}
	defer h.Close()
	return do(h)
}

func ipnet(address netip.Addr, bits int) *net.IPNet {
	return &net.IPNet{IP: address.AsSlice(), Mask: net.CIDRMask(bits, 32)}
}
