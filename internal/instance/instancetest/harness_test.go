// SPDX-License-Identifier: Apache-2.0

package instancetest

import (
	"context"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/keelson-dev/mysql-operator/internal/instance/client"
	"github.com/keelson-dev/mysql-operator/internal/instance/layout"
	"github.com/keelson-dev/mysql-operator/internal/mycnf"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/pki"
	"github.com/keelson-dev/mysql-operator/internal/testing/mysqld"
)

const (
	namespace = "test"
	cluster   = "db"
	database  = "app"
	owner     = "app"
)

// world is a cluster of managers on loopback, with what the operator would have made for them.
type world struct {
	t         *testing.T
	dir       string
	bin       string
	ca        pki.CA
	instances map[string]*node
	pool      *client.Pool
	ha        ha
	secrets   map[string]string
}

// node is one instance: its folders outlive its process, as a PVC outlives its pod.
type node struct {
	w      *world
	name   string
	setup  setup
	uid    uint32 // 0: as the test
	cmd    *exec.Cmd
	exited chan struct{}
	log    string
}

func newWorld(t *testing.T, n int) *world {
	t.Helper()
	// Not t.TempDir: the path of a socket may have at most 107 characters.
	dir, err := os.MkdirTemp("", "kin") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, bin: mysqld.Bin(t), instances: map[string]*node{}, secrets: map[string]string{
		naming.KeyManagerPassword: "manager-1", naming.KeyClonePassword: "clone-1", naming.KeyCatchupPassword: "catchup-1",
		naming.KeyAppUsername: owner, naming.KeyAppPassword: "owner's-1",
	}}
	if w.ca, err = pki.NewCA(time.Now()); err != nil {
		t.Fatal(err)
	}
	w.pool = client.NewPool(t.Context())
	t.Cleanup(func() {
		w.pool.Close()
		for _, n := range w.instances {
			n.end()
		}
		if t.Failed() {
			w.showLogs()
		}
		_ = os.RemoveAll(dir)
	})
	managers := map[string]int{}
	for i := range n {
		name := naming.Instance(cluster, i)
		p := freePorts(t)
		managers[name] = p.Manager
		w.instances[name] = w.newNode(name, p, managers)
	}
	return w
}

// freePorts finds ports below the range that the kernel gives to clients: a port from that range, free now, may be an
// outgoing connection's when the manager starts.
func freePorts(t *testing.T) ports {
	t.Helper()
	const lowest, highest, tries = 12000, 32000, 100
	var p ports
	for range tries {
		if p.take(lowest + rand.IntN(highest-lowest)) {
			return p
		}
	}
	t.Fatal("found no free ports on 127.0.0.1")
	return p
}

// take takes consecutive ports, if they are all free.
func (p *ports) take(first int) bool {
	for i, into := range []*int{&p.Manager, &p.Probes, &p.Metrics, &p.MySQL, &p.Admin} {
		*into = first + i
		l, err := net.Listen("tcp", local(*into))
		if err != nil {
			return false
		}
		_ = l.Close() // it was only to see
	}
	return true
}

func (w *world) newNode(name string, p ports, managers map[string]int) *node {
	root := filepath.Join(w.dir, name)
	n := &node{w: w, name: name, log: filepath.Join(w.dir, name+".log"), setup: setup{
		Namespace: namespace, Cluster: cluster, Instance: name, Ports: p, Managers: managers, BootID: "boot-1",
		Paths: layout.Paths{
			Data: root + "/data", Run: root + "/run", Tmp: root + "/tmp", Config: root + "/config", Internal: root + "/internal",
			App: root + "/app", TLS: root + "/tls", Mysqld: filepath.Join(w.bin, "mysqld"),
		},
	}}
	if os.Geteuid() == 0 {
		n.setup.Options = []string{"--user=root"}
	}
	paths := n.setup.Paths
	for _, dir := range []string{paths.Data, paths.Run, paths.Tmp, paths.Config, paths.Internal, paths.App, paths.TLS} {
		w.must(os.MkdirAll(dir, 0o750))
	}
	settings, err := json.Marshal(mycnf.Settings{})
	w.must(err)
	w.must(os.WriteFile(paths.Settings(), settings, 0o600))
	n.writeSecrets()
	n.writeCertificate()
	return n
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (n *node) writeSecrets() {
	for key, value := range n.w.secrets {
		dir := n.setup.Paths.Internal
		if key == naming.KeyAppUsername || key == naming.KeyAppPassword {
			dir = n.setup.Paths.App
		}
		n.w.must(os.WriteFile(filepath.Join(dir, key), []byte(value), 0o600))
	}
}

func (n *node) writeCertificate() {
	pair, err := n.w.ca.Issue(pki.InstanceRequest(namespace, cluster, n.name), time.Now())
	n.w.must(err)
	pair.CertPEM = n.w.withAddress(pair)
	dir := n.setup.Paths.TLS
	n.w.must(os.WriteFile(filepath.Join(dir, naming.KeyCACert), n.w.ca.CertPEM(), 0o600))
	n.w.must(os.WriteFile(filepath.Join(dir, n.name+".crt"), pair.CertPEM, 0o600))
	n.w.must(os.WriteFile(filepath.Join(dir, n.name+".key"), pair.KeyPEM, 0o600))
}

// withAddress signs the certificate again with the address under which instances of a test reach each other.
func (w *world) withAddress(pair pki.Pair) []byte {
	cert, err := pki.ParseCertificate(pair.CertPEM)
	w.must(err)
	keyText, err := w.ca.KeyPEM()
	w.must(err)
	block, _ := pem.Decode(keyText)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	w.must(err)
	cert.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	der, err := x509.CreateCertificate(crand.Reader, cert, w.ca.Certificate(), cert.PublicKey, key)
	w.must(err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// start starts the manager's process and tells the pool of it.
func (n *node) start() {
	n.w.t.Helper()
	raw, err := json.Marshal(n.setup)
	n.w.must(err)
	file := filepath.Join(n.w.dir, n.name+".json")
	n.w.must(os.WriteFile(file, raw, 0o644))
	out, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	n.w.must(err)
	defer func() { _ = out.Close() }() // the child has its own
	self := n.binary()
	n.cmd = exec.CommandContext(context.WithoutCancel(n.w.t.Context()), self)
	n.cmd.Env = append(os.Environ(), envSetup+"="+file)
	n.cmd.Stdout, n.cmd.Stderr = out, out
	// A test that is killed takes its managers with it, and those their servers.
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if n.uid != 0 {
		n.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: n.uid, Gid: n.uid}
		// The programs may lie below a folder of root's. Nothing can be written with it.
		n.cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_DAC_READ_SEARCH}
	}
	exited := make(chan struct{})
	n.exited = exited
	n.w.must(n.cmd.Start())
	cmd := n.cmd
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	n.w.pool.Ensure(n.key(), client.Endpoint{
		Address: local(n.setup.Ports.Manager), TLS: n.w.operatorTLS(n.name), Version: strconv.Itoa(cmd.Process.Pid),
	})
}

// runAs gives the instance's folders to a user without a name, whom its processes will run as.
func (n *node) runAs(t *testing.T, uid int) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("this test must run as root: it runs processes as other users")
	}
	n.uid, n.setup.Options = uint32(uid), nil
	w := n.w
	w.must(os.Chmod(w.dir, 0o755))
	root := filepath.Dir(n.setup.Paths.Data)
	w.must(filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, uid, uid))
	}))
}

// binary returns this test binary where the instance's user can reach it.
func (n *node) binary() string {
	self, err := os.Executable()
	n.w.must(err)
	if n.uid == 0 {
		return self
	}
	content, err := os.ReadFile(self)
	n.w.must(err)
	path := filepath.Join(n.w.dir, n.name+".test")
	n.w.must(os.WriteFile(path, content, 0o755))
	return path
}

func (n *node) key() client.Key {
	return client.Key{Namespace: namespace, Cluster: cluster, Instance: n.name}
}

// kill ends the manager with SIGKILL; mysqld goes with it, as it does with a container.
func (n *node) kill() {
	n.w.t.Helper()
	n.w.must(n.cmd.Process.Kill())
	<-n.exited
}

// terminate sends SIGTERM to the manager.
func (n *node) terminate() {
	n.w.t.Helper()
	n.w.must(n.cmd.Process.Signal(syscall.SIGTERM))
}

// end is the end of the test.
func (n *node) end() {
	if n.cmd == nil || n.cmd.Process == nil {
		return
	}
	if err := n.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		n.w.t.Errorf("kill manager: %v", err)
	}
	<-n.exited
}

// mysqldPID returns the process id of the running server.
func (n *node) mysqldPID() int {
	n.w.t.Helper()
	raw, err := os.ReadFile(n.setup.Paths.PIDFile())
	n.w.must(err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	n.w.must(err)
	return pid
}

// killMysqld ends mysqld alone with SIGKILL.
func (n *node) killMysqld() {
	n.w.t.Helper()
	n.w.must(syscall.Kill(n.mysqldPID(), syscall.SIGKILL))
}

func (w *world) operatorTLS(instance string) *tls.Config {
	pair, err := w.ca.Issue(pki.ClientRequest(namespace, cluster, naming.IdentityOperator), time.Now())
	w.must(err)
	var store pki.Store
	w.must(store.Set(pair, w.ca.CertPEM()))
	return pki.ClientTLS(&store, pki.AcceptOnly(pki.Identity{
		Namespace: namespace, Cluster: cluster, Role: naming.IdentityInstance, Instance: instance,
	}), time.Now)
}

// showLogs prints the end of each manager's log.
func (w *world) showLogs() {
	const lines = 15
	for name, n := range w.instances {
		raw, err := os.ReadFile(n.log)
		if err != nil {
			continue
		}
		all := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(raw)), "\n"), func(line string) bool {
			return strings.Contains(line, "Asking mysqld") || strings.Contains(line, `"logger":"mysqld"`)
		})
		fmt.Fprintf(os.Stderr, "==== %s\n%s\n", name, strings.Join(all[max(0, len(all)-lines):], "\n"))
	}
}
