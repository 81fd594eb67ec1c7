// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
	"github.com/keelson-dev/mysql-operator/internal/instance/bootstrap"
	"github.com/keelson-dev/mysql-operator/internal/instance/layout"
	"github.com/keelson-dev/mysql-operator/internal/instance/marker"
	"github.com/keelson-dev/mysql-operator/internal/instance/mysqld"
	"github.com/keelson-dev/mysql-operator/internal/instance/peers"
	"github.com/keelson-dev/mysql-operator/internal/instance/role"
	"github.com/keelson-dev/mysql-operator/internal/instance/server"
	"github.com/keelson-dev/mysql-operator/internal/instance/supervisor"
	"github.com/keelson-dev/mysql-operator/internal/mysql"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/pki"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// passEvery is how often the loop goes round when nothing wakes it. mysqld tells of no changes by itself; a commit
// that waits for a shrink waits some of these.
const passEvery = 200 * time.Millisecond

// versionTimeout bounds the question for mysqld's version, which may have to be read from a slow disk first. It is
// well below the time after which the liveness probe takes the loop for wedged.
const versionTimeout = 5 * time.Second

// Manager runs one instance.
type Manager struct {
	cfg      Config
	log      logr.Logger
	id       string
	store    *marker.Store
	launcher *mysqld.Launcher
	certs    *certificates
	peers    *peers.Client
	hub      *server.Hub
	wake     chan struct{}
	lastPass atomic.Int64
	nudging  atomic.Bool
	tasks    sync.WaitGroup // joined before Run returns

	// quarantine says why nothing may be touched; set once, by New.
	quarantine string
	// unusable says why mysqld cannot be run; nil once it has told its version.
	unusable atomic.Pointer[string]

	inbox inbox
	board board
	state // owned by the loop
}

// inbox is what other goroutines leave for the loop.
type inbox struct {
	mu sync.Mutex
	// passwords are those of the last role order, which are stored nowhere.
	passwords passwords
	// confirmed tells that the operator ordered the role of primary since mysqld was last gone.
	confirmed bool
	job       *job
	lend      *lending
	stop      bool
	// db is the server that answers; nil while none does.
	db *mysqld.Server
}

type passwords struct {
	members map[marker.Member]string
	source  string
}

// state belongs to the loop.
type state struct {
	server    *mysqld.Server // started, and not known to have ended
	answering bool
	status    mysql.Status
	memory    *role.Memory
	phase     wire.State
	why       string
	told      string        // the why that was logged last
	applied   *marker.Order // what is in effect in this process
	intact    bool
	sourceHad *gtid.Set // what the source had when the receiver connected, while not intact
	// receiverLost is since when the receiver has not been connected; zero while it is.
	receiverLost time.Time
	attached     bool // was attached once in the life of this manager
	fence        string
	backoff      supervisor.Backoff
	// askVersion is when mysqld is asked for its version again, while it has not told it.
	askVersion     time.Time
	versionBackoff supervisor.Backoff
	notBefore      time.Time
	offline        *offlineScan
	recovery       *recovery
	stopping       *stopping
	restarts       int
	lastWords      string // of the server that ended last
	commits        waiting
	logs           logsSeen
	prepared       *preparation
	peersAsk       time.Time
	warmed         time.Time
	certsRead      time.Time
	certsDue       bool // mysqld has not loaded the newest yet
	// passwordsRead is when the mounted passwords were last compared with those that mysqld has.
	passwordsRead time.Time
}

// New opens the marker and decides whether anything may be touched.
func New(ctx context.Context, cfg Config, sup *supervisor.Supervisor) (*Manager, error) {
	m := &Manager{
		cfg: cfg, log: cfg.Log, id: rand.Text(), wake: make(chan struct{}, 1),
		launcher: &mysqld.Launcher{
			Supervisor: sup, Paths: cfg.Paths, Instance: cfg.Instance, BindAddress: cfg.BindAddress, Port: cfg.Port,
			AdminPort: cfg.AdminPort, MemoryLimit: cfg.MemoryLimit, Extra: cfg.MysqldOptions, Log: cfg.Log,
		},
		certs: &certificates{paths: cfg.Paths, identity: pki.Identity{
			Namespace: cfg.Namespace, Cluster: cfg.Cluster, Role: naming.IdentityInstance, Instance: cfg.Instance,
		}},
	}
	m.peers = &peers.Client{Self: cfg.Instance, Address: cfg.PeerAddress, TLS: m.certs.client}
	m.beat()
	if _, err := m.certs.refresh(); err != nil {
		return nil, err
	}
	if err := m.openMarker(); err != nil {
		return nil, err
	}
	m.findVersion(ctx)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("ask mysqld for its version: %w", ctx.Err())
	}
	m.hub = server.NewHub(&wire.Snapshot{Instance: cfg.Instance, ManagerId: m.id, BootId: cfg.BootID, ManagerVersion: cfg.Version})
	return m, nil
}

// findVersion asks mysqld for its version, and notes why when there is none. That is served rather than a process that
// ends again and again, so that the reason is to be read in the cluster's status; and it is asked again: a fork that
// failed once for want of memory would else bar a primary until somebody deletes its pod.
func (m *Manager) findVersion(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	begun := time.Now()
	v, err := mysqld.FindVersion(ctx, m.launcher.Supervisor, m.cfg.Paths.Mysqld)
	if err != nil {
		why := err.Error()
		m.unusable.Store(&why)
		m.askVersion = time.Now().Add(m.versionBackoff.After(time.Since(begun)))
		return
	}
	m.launcher.Version = v
	m.unusable.Store(nil)
}

// barred says why no order can be for this instance; empty when one can.
func (m *Manager) barred() string {
	if m.quarantine != "" {
		return m.quarantine
	}
	if why := m.unusable.Load(); why != nil {
		return *why
	}
	return ""
}

// openMarker opens the marker. A datadir that no readable marker speaks of is not touched, whatever is in it (I6).
func (m *Manager) openMarker() error {
	hasData := layout.Exists(m.cfg.Paths.Datadir())
	store, err := marker.Open(m.cfg.Paths.Marker())
	if errors.Is(err, marker.ErrDamaged) {
		m.quarantine = "the marker file is damaged: what this volume holds cannot be told"
		return nil
	}
	if err != nil {
		return err
	}
	m.store = store
	rec, found := store.Get()
	if m.quarantine = doubts(found, rec.Initialized, hasData); m.quarantine != "" {
		return nil
	}
	if !rec.Initialized {
		if err := bootstrap.RemoveData(m.cfg.Paths); err != nil {
			return err
		}
	}
	return bootstrap.RemoveLeftovers(m.cfg.Paths)
}

// doubts tells why marker and datadir do not belong together; empty when they do.
func doubts(found, initialized, hasData bool) string {
	switch {
	case !found && hasData:
		return "the volume holds a datadir and no marker: it is not known whose it is"
	case initialized && !hasData:
		return "the marker speaks of a datadir that is not there"
	}
	return ""
}

// Run runs the instance until ctx ends, which means: stop in order. It returns when mysqld is stopped.
func (m *Manager) Run(ctx context.Context) error {
	services, stopServices := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServices()
	failed, err := m.serve(services)
	if err != nil {
		return err
	}
	defer func() { _ = m.peers.Close() }() // nothing is asked any more
	defer m.tasks.Wait()
	defer stopServices() // ends the tasks, which are joined after it
	m.log.Info("Starting instance manager", naming.LogInstance, m.cfg.Instance, "mysqld", m.launcher.Version.String(),
		"manager", m.cfg.Version)
	tick := time.NewTicker(passEvery)
	defer tick.Stop()
	quit := ctx.Done()
	for {
		if m.pass(services) {
			return m.closeStore()
		}
		m.beat()
		select {
		case <-quit:
			quit = nil
			m.requestStop()
		case err := <-failed:
			return errors.Join(err, m.abandon(), m.closeStore())
		case <-m.wake:
		case <-m.ended():
		case <-tick.C:
		}
	}
}

func (m *Manager) closeStore() error {
	if m.store == nil {
		return nil
	}
	return m.store.Close()
}

func (m *Manager) beat() { m.lastPass.Store(time.Now().UnixNano()) }

// LastPass returns when the loop last went round.
func (m *Manager) LastPass() time.Time { return time.Unix(0, m.lastPass.Load()) }

// ended is closed when mysqld has ended: the loop wakes at once, since others decide by it.
func (m *Manager) ended() <-chan struct{} {
	if m.server == nil {
		return nil
	}
	return m.server.Ended()
}

func (m *Manager) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *Manager) requestStop() {
	m.log.Info("Stopping on request")
	m.inbox.mu.Lock()
	defer m.inbox.mu.Unlock()
	m.inbox.stop = true
	if j := m.inbox.job; j != nil && j.cancel != nil {
		j.cancel()
	}
}

// abandon kills mysqld: the manager cannot go on, and a mysqld without it must not.
func (m *Manager) abandon() error {
	if m.server == nil {
		return nil
	}
	return m.server.Kill()
}

// Install copies the manager's own binary and the settings as they are now to where the pod will use them: a changed
// ConfigMap does not reach a pod that runs.
func Install(binary, into string, p layout.Paths) error {
	for _, c := range []struct {
		from, to string
		mode     os.FileMode
	}{
		{binary, filepath.Join(into, naming.BinaryName), 0o755},
		{filepath.Join(p.Config, naming.SettingsKey), p.Settings(), 0o644},
	} {
		data, err := os.ReadFile(c.from)
		if err != nil {
			return fmt.Errorf("install: %w", err)
		}
		if err := os.WriteFile(c.to+".new", data, c.mode); err != nil { //nolint:gosec // the pod's own layout
			return fmt.Errorf("install: %w", err)
		}
		if err := os.Rename(c.to+".new", c.to); err != nil {
			return fmt.Errorf("install: %w", err)
		}
	}
	return nil
}
