// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/go-logr/logr"

	"github.com/keelson-dev/mysql-operator/internal/instance/layout"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// Config is all that one instance must be told.
type Config struct {
	Namespace, Cluster, Instance string
	Paths                        layout.Paths
	// ManagerAddress, ProbesAddress and MetricsAddress are where this process listens.
	ManagerAddress, ProbesAddress, MetricsAddress string
	// BindAddress, Port and AdminPort are where mysqld listens.
	BindAddress     string
	Port, AdminPort int
	MemoryLimit     int64
	// PeerAddress returns host:port of another instance's manager.
	PeerAddress func(instance string) string
	// BootID is the kernel's: another one than stored means that the node was reset.
	BootID string
	// Version is this binary's.
	Version string
	// MysqldOptions are added to mysqld's command line: a test keeps its servers small with them.
	MysqldOptions []string
	Log           logr.Logger
}

// PodConfig returns the configuration of an instance in its pod.
func PodConfig(namespace, cluster, instance string) Config {
	return Config{
		Namespace: namespace, Cluster: cluster, Instance: instance, Paths: layout.Pod(),
		ManagerAddress: listen(naming.PortManager), ProbesAddress: listen(naming.PortProbes), MetricsAddress: listen(naming.PortMetrics),
		BindAddress: "*", Port: naming.PortMySQL, AdminPort: naming.PortAdmin,
		PeerAddress: func(peer string) string {
			return net.JoinHostPort(naming.InstanceHost(namespace, cluster, peer), strconv.Itoa(naming.PortManager))
		},
	}
}

func listen(port int) string { return ":" + strconv.Itoa(port) }

// bootIDFile is where the kernel tells its boot id.
const bootIDFile = "/proc/sys/kernel/random/boot_id"

// ReadBootID reads the kernel's boot id.
func ReadBootID() (string, error) {
	raw, err := os.ReadFile(bootIDFile)
	if err != nil {
		return "", fmt.Errorf("read boot id: %w", err)
	}
	return strings.TrimSpace(string(raw)), nil
}
