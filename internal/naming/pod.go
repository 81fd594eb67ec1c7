// SPDX-License-Identifier: Apache-2.0

package naming

// Containers of an instance pod.
const (
	ContainerMySQL   = "mysql"
	ContainerInstall = "install"
)

// Ports of an instance pod. PortAdmin listens on loopback only.
const (
	PortMySQL   = 3306
	PortAdmin   = 33062
	PortManager = 8443
	PortProbes  = 8080
	PortMetrics = 9104
)

// Names of the ports.
const (
	PortNameMySQL   = "mysql"
	PortNameManager = "manager"
	PortNameProbes  = "probes"
	PortNameMetrics = "metrics"
)

// Volumes of an instance pod.
const (
	VolumeData     = "data"     // the PVC
	VolumeRun      = "run"      // emptyDir in memory: socket, rendered my.cnf, init file, TLS copies
	VolumeBin      = "bin"      // emptyDir: the manager binary, put there by the init container
	VolumeTmp      = "tmp"      // emptyDir: mysqld's tmpdir
	VolumeConfig   = "config"   // ConfigMap
	VolumeInternal = "internal" // Secret SecretInternal
	VolumeApp      = "app"      // Secret SecretApp
	VolumeTLS      = "tls"      // Secret SecretTLS
)

// Paths in an instance pod.
const (
	PathData     = "/var/lib/mysql"
	PathRun      = "/run/keelson"
	PathBin      = "/opt/keelson/bin"
	PathTmp      = "/tmp"
	PathConfig   = "/etc/keelson/config"
	PathInternal = "/etc/keelson/internal"
	PathApp      = "/etc/keelson/app"
	PathTLS      = "/etc/keelson/tls"

	// BinaryName is the manager binary in PathBin.
	BinaryName = "manager"
)

// Folders and files below the data volume (relative to PathData). The marker lies outside the datadir: a clone or
// a rewind never touches it.
const (
	DirDatadir  = "data"          // mysqld's datadir
	DirManager  = "keelson"       // marker
	DirIncoming = "incoming"      // a datadir being initialised or cloned; removed at every start
	DirScratch  = "scratch"       // the throw-away server that receives a clone; removed at every start
	FileMarker  = "marker"        // in DirManager
	SettingsKey = "settings.json" // key of the ConfigMap, and the file the init container snapshots to PathRun
	FileSocket  = "mysqld.sock"   // in PathRun
	FileConfig  = "my.cnf"        // in PathRun
)

// Environment of an instance pod.
const (
	EnvNamespace   = "KEELSON_NAMESPACE"
	EnvCluster     = "KEELSON_CLUSTER"
	EnvInstance    = "KEELSON_INSTANCE"
	EnvMemoryLimit = "KEELSON_MEMORY_LIMIT" // bytes
)
