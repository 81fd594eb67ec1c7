// SPDX-License-Identifier: Apache-2.0

package mysqld

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startDeadline is long: other tests share the machine, and a server that does not start says so by exiting.
const startDeadline = 2 * time.Minute

// Server is a mysqld that a test runs. It ends with the test.
type Server struct {
	Socket string

	bin   string
	cmd   *exec.Cmd
	log   *bytes.Buffer
	ended chan struct{}
}

// Initialize makes a datadir with the options of the command line that follow --no-defaults.
func Initialize(t *testing.T, args ...string) {
	t.Helper()
	out, err := Command(t.Context(), Bin(t), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("initialize datadir: %v\n%s", err, out)
	}
}

// Start runs mysqld with the given command line, which names socket as its socket, and waits until it answers there.
func Start(t *testing.T, socket string, args ...string) *Server {
	t.Helper()
	s := &Server{Socket: socket, bin: Bin(t), log: &bytes.Buffer{}, ended: make(chan struct{})}
	// Not the test's context: it ends before the cleanup, which stops mysqld in order.
	s.cmd = Command(context.WithoutCancel(t.Context()), s.bin, args...)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	// A test that is killed takes its server with it.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		t.Fatalf("start mysqld: %v", err)
	}
	go func() {
		defer close(s.ended)
		_ = s.cmd.Wait()
	}()
	t.Cleanup(func() { s.Stop(t) })
	s.await(t)
	return s
}

// StartBare initializes a server in a folder of the test and starts it with nothing but a socket.
func StartBare(t *testing.T) *Server {
	t.Helper()
	// Not t.TempDir: the path of a socket may have at most 107 characters.
	dir, err := os.MkdirTemp("", "kmy") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	data, socket := "--datadir="+filepath.Join(dir, "data"), filepath.Join(dir, "s")
	Initialize(t, "--no-defaults", "--initialize-insecure", data, "--skip-log-bin")
	return Start(t, socket, "--no-defaults", data, "--socket="+socket, "--pid-file="+filepath.Join(dir, "pid"),
		"--skip-networking", "--mysqlx=OFF", "--skip-log-bin", "--innodb-buffer-pool-size=64M")
}

func (s *Server) await(t *testing.T) {
	t.Helper()
	deadline := time.NewTimer(startDeadline) //nolint:forbidigo // a real server lives in real time
	defer deadline.Stop()
	again := time.NewTicker(50 * time.Millisecond) //nolint:forbidigo // a real server lives in real time
	defer again.Stop()
	for {
		select {
		case <-s.ended:
			t.Fatalf("mysqld ended at once:\n%s", s.log)
		case <-deadline.C:
			t.Fatalf("mysqld does not answer on %s", s.Socket)
		case <-again.C:
		}
		if _, err := s.client(t.Context(), "SELECT 1").Output(); err == nil {
			return
		}
	}
}

// Client runs SQL with the options of the mysql client, which say where to and as whom, and returns what it prints, on
// both streams.
func (s *Server) Client(t *testing.T, sql string, options ...string) (string, error) {
	t.Helper()
	args := append([]string{"--no-defaults", "--batch", "--raw", "--skip-column-names"}, options...)
	cmd := exec.CommandContext(t.Context(), filepath.Join(s.bin, "mysql"), args...) //nolint:gosec // a test's own mysql
	cmd.Stdin = strings.NewReader(sql)
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

// FreePort returns a TCP port of loopback that nobody uses at the moment.
func FreePort(t *testing.T) int {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	addr, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("listener has address %v", listener.Addr())
	}
	return addr.Port
}

// Query runs SQL as root@localhost and returns what the client prints: rows as lines, columns parted by tabs.
func (s *Server) Query(t *testing.T, sql string) string {
	t.Helper()
	out, err := s.client(t.Context(), sql).Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("query: %v: %s", err, exit.Stderr)
		}
		t.Fatalf("query: %v", err)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func (s *Server) client(ctx context.Context, sql string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "mysql"), //nolint:gosec // a test's own mysql
		"--no-defaults", "--user=root", "--socket="+s.Socket, "--batch", "--raw", "--skip-column-names")
	cmd.Stdin = strings.NewReader(sql)
	return cmd
}

// Stop ends mysqld in order. It may be called again.
func (s *Server) Stop(t *testing.T) {
	t.Helper()
	select {
	case <-s.ended:
		return
	default:
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("stop mysqld: %v", err)
	}
	<-s.ended
}

// Log returns what mysqld wrote; valid after Stop.
func (s *Server) Log() string { return s.log.String() }

// ResidentMiB returns the largest resident memory that mysqld had.
func (s *Server) ResidentMiB(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		t.Fatal("the kernel tells no VmHWM")
	}
	kib, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return kib / 1024
}
