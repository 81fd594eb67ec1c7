// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"os"
	"path/filepath"

	"github.com/keelson-dev/mysql-operator/internal/mycnf"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// Paths are the roots of an instance: volumes, and the programs of the image.
type Paths struct {
	Data     string // the PVC
	Run      string // memory: socket, rendered files, copies of certificates
	Tmp      string // mysqld's tmpdir
	Config   string // settings.json as the ConfigMap has it
	Internal string // Secret with the operator's own passwords
	App      string // Secret of the application's owner
	TLS      string // Secret with the certificates of all instances
	Mysqld   string // the program
}

// Pod returns the paths in a pod.
func Pod() Paths {
	return Paths{
		Data: naming.PathData, Run: naming.PathRun, Tmp: naming.PathTmp, Config: naming.PathConfig,
		Internal: naming.PathInternal, App: naming.PathApp, TLS: naming.PathTLS, Mysqld: "mysqld",
	}
}

// Datadir returns mysqld's datadir.
func (p Paths) Datadir() string { return filepath.Join(p.Data, naming.DirDatadir) }

// Incoming returns the folder of a datadir that is not complete yet.
func (p Paths) Incoming() string { return filepath.Join(p.Data, naming.DirIncoming) }

// Scratch returns the datadir of the throw-away server that receives a clone.
func (p Paths) Scratch() string { return filepath.Join(p.Data, naming.DirScratch) }

// Marker returns the marker file.
func (p Paths) Marker() string { return filepath.Join(p.Data, naming.DirManager, naming.FileMarker) }

// Socket returns mysqld's socket.
func (p Paths) Socket() string { return filepath.Join(p.Run, naming.FileSocket) }

// ScratchSocket returns the socket of the throw-away server.
func (p Paths) ScratchSocket() string { return filepath.Join(p.Run, "scratch.sock") }

// MyCnf returns the rendered my.cnf.
func (p Paths) MyCnf() string { return filepath.Join(p.Run, naming.FileConfig) }

// InitFile returns the statements of the next start of mysqld.
func (p Paths) InitFile() string { return filepath.Join(p.Run, "init.sql") }

// PIDFile returns mysqld's pid file.
func (p Paths) PIDFile() string { return filepath.Join(p.Run, "mysqld.pid") }

// Settings returns the snapshot of the settings that the init container made.
func (p Paths) Settings() string { return filepath.Join(p.Run, naming.SettingsKey) }

// CA returns the copy of the cluster's CA certificates.
func (p Paths) CA() string { return filepath.Join(p.Run, "tls", naming.KeyCACert) }

// Cert returns the copy of the instance's certificate.
func (p Paths) Cert() string { return filepath.Join(p.Run, "tls", "tls.crt") }

// Key returns the copy of the instance's key.
func (p Paths) Key() string { return filepath.Join(p.Run, "tls", "tls.key") }

// BinlogIndex returns the index of the binlog files.
func (p Paths) BinlogIndex() string { return filepath.Join(p.Datadir(), mycnf.BinlogIndex) }

// RelayIndex returns the index of the relay-log files.
func (p Paths) RelayIndex() string { return filepath.Join(p.Datadir(), mycnf.RelayIndex) }

// Exists tells whether there is something at path.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
