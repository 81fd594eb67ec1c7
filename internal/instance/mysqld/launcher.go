// SPDX-License-Identifier: Apache-2.0

package mysqld

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/go-logr/logr"

	"github.com/keelson-dev/mysql-operator/internal/instance/layout"
	"github.com/keelson-dev/mysql-operator/internal/instance/supervisor"
	"github.com/keelson-dev/mysql-operator/internal/mycnf"
	"github.com/keelson-dev/mysql-operator/internal/mysql"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/version"
)

// maxOrdinals bounds the ordinals whose accounts may exist: the API allows nine instances, and more leaves room.
const maxOrdinals = 32

const fileMode = 0o600

// codeAborting is the line "Aborting".
const codeAborting = "MY-010119"

// Launcher starts mysqld.
type Launcher struct {
	Supervisor *supervisor.Supervisor
	Paths      layout.Paths
	Instance   string
	// BindAddress, Port and AdminPort are where mysqld listens.
	BindAddress     string
	Port, AdminPort int
	MemoryLimit     int64
	Version         version.MySQL
	// Extra are options for every start: a test run by root needs --user.
	Extra []string
	Log   logr.Logger
}

// FindVersion asks the binary for its version.
func FindVersion(ctx context.Context, sup *supervisor.Supervisor, path string) (version.MySQL, error) {
	out, err := sup.Output(ctx, path, "--no-defaults", "--version")
	if err != nil {
		return version.MySQL{}, fmt.Errorf("ask mysqld for its version: %w", err)
	}
	v, err := version.ParseBanner(string(out))
	if err != nil {
		return version.MySQL{}, fmt.Errorf("ask mysqld for its version: %w", err)
	}
	return v, version.Supported(v)
}

// Settings reads what the user asked of mysqld, as it was when the pod was made.
func (l *Launcher) settings() (mycnf.Settings, error) {
	raw, err := os.ReadFile(l.Paths.Settings())
	if err != nil {
		return mycnf.Settings{}, fmt.Errorf("read settings: %w", err)
	}
	var s mycnf.Settings
	if err := json.Unmarshal(raw, &s); err != nil {
		return mycnf.Settings{}, fmt.Errorf("read settings: %w", err)
	}
	return s, nil
}

// Start starts the server that holds the data, with the identity of its datadir. It comes up read-only, offline,
// neither receiving nor acknowledging, with every replication account locked and the passwords of the Secrets.
func (l *Launcher) Start(id Identity) (*Server, error) {
	credentials, err := l.Paths.ReadCredentials()
	if err != nil {
		return nil, err
	}
	if err := l.prepare(credentials, id); err != nil {
		return nil, err
	}
	flags := mycnf.SafetyFlags(mycnf.Server{
		Paths:    l.paths(l.Paths.Datadir(), l.Paths.Socket(), l.Paths.InitFile()),
		ServerID: id.ServerID(), ReportHost: l.Instance,
		BindAddress: l.BindAddress, Port: l.Port, AdminPort: l.AdminPort,
	})
	config := mysql.Config{Socket: l.Paths.Socket(), User: naming.AccountManager, Password: credentials.Manager}
	s, err := l.start(flags, config)
	if err != nil {
		return nil, err
	}
	s.Credentials = credentials
	return s, nil
}

// prepare writes what the server reads at its start.
func (l *Launcher) prepare(c layout.Credentials, id Identity) error {
	settings, err := l.settings()
	if err != nil {
		return err
	}
	cnf, err := mycnf.Render(mycnf.Input{Settings: settings, Version: l.Version, MemoryLimit: l.MemoryLimit})
	if err != nil {
		return err
	}
	if err := os.WriteFile(l.Paths.MyCnf(), cnf, fileMode); err != nil {
		return fmt.Errorf("write my.cnf: %w", err)
	}
	if err := os.WriteFile(l.Paths.InitFile(), []byte(initFile(c)), fileMode); err != nil {
		return fmt.Errorf("write init file: %w", err)
	}
	return WriteAuto(l.Paths.Datadir(), id)
}

// passwords returns those that the Secrets rule, by account.
func passwords(c layout.Credentials) map[string]string {
	out := map[string]string{
		naming.AccountManager + "@localhost": c.Manager,
		naming.AccountClone + "@%":           c.Clone,
		naming.AccountCatchup + "@%":         c.Catchup,
	}
	if c.Owner != "" && c.OwnerPassword != "" {
		out[c.Owner+"@%"] = c.OwnerPassword
	}
	return out
}

func initFile(c layout.Credentials) string {
	locked := []string{naming.AccountCatchup}
	for ordinal := range maxOrdinals {
		locked = append(locked, naming.AccountReplication(ordinal))
	}
	return mysql.InitFile(passwords(c), locked)
}

func (l *Launcher) paths(datadir, socket, initFile string) mycnf.Paths {
	return mycnf.Paths{
		Config: l.Paths.MyCnf(), Datadir: datadir, Socket: socket, PIDFile: l.Paths.PIDFile(), Tmpdir: l.Paths.Tmp,
		InitFile: initFile, TLSCA: l.Paths.CA(), TLSCert: l.Paths.Cert(), TLSKey: l.Paths.Key(),
	}
}

// StartScratch starts the throw-away server on its own datadir.
func (l *Launcher) StartScratch() (*Server, error) {
	paths := l.paths(l.Paths.Scratch(), l.Paths.ScratchSocket(), "")
	paths.PIDFile = l.Paths.ScratchSocket() + ".pid"
	return l.start(mycnf.ScratchFlags(paths), mysql.Config{Socket: l.Paths.ScratchSocket(), User: "root"})
}

func (l *Launcher) start(args []string, config mysql.Config) (*Server, error) {
	// A socket file that outlived its server would answer nobody.
	if err := os.Remove(config.Socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove old socket: %w", err)
	}
	db, err := mysql.Open(config)
	if err != nil {
		return nil, err
	}
	lastError := &atomic.Pointer[string]{}
	process, err := l.Supervisor.Start(l.command(args, lastError))
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return newServer(process, db, lastError), nil
}

// Initialize makes a datadir in folder and executes the statements of first in it. ctx ends it with SIGKILL.
func (l *Launcher) Initialize(ctx context.Context, folder, first string) error {
	args := mycnf.InitializeFlags(l.paths(folder, "", ""))
	if first != "" {
		path := l.Paths.InitFile()
		if err := os.WriteFile(path, []byte(first), fileMode); err != nil {
			return fmt.Errorf("write init file: %w", err)
		}
		defer func() { _ = os.Remove(path) }() // it lies in memory and is overwritten by the next start
		args = append(args, "--init-file="+path)
	}
	lastError := &atomic.Pointer[string]{}
	process, err := l.Supervisor.Start(l.command(args, lastError))
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return errors.Join(ctx.Err(), process.Kill())
	case <-process.Ended():
	}
	if err := process.Err(); err != nil {
		if text := lastError.Load(); text != nil {
			err = fmt.Errorf("%w: %s", err, *text)
		}
		return fmt.Errorf("initialize %s: %w", filepath.Base(folder), err)
	}
	return nil
}

func (l *Launcher) command(args []string, lastError *atomic.Pointer[string]) supervisor.Command {
	return supervisor.Command{Path: l.Paths.Mysqld, Args: slices.Concat(args, l.Extra), Output: func(line string) {
		l.logLine(line, lastError)
	}}
}

// logLine passes a line on, and keeps the last error but the one that only says that the server gives up.
func (l *Launcher) logLine(line string, lastError *atomic.Pointer[string]) {
	if line == "" {
		return
	}
	e := supervisor.ParseLogLine(line)
	log := l.Log.WithName("mysqld")
	values := []any{"priority", e.Priority, "code", e.Code, "subsystem", e.Subsystem, "thread", e.Thread}
	if e.Code == "" {
		values = nil
	}
	if e.Priority == "Error" {
		if e.Code != codeAborting {
			lastError.Store(&e.Message)
		}
		log.Error(nil, e.Message, values...)
		return
	}
	log.Info(e.Message, values...)
}
