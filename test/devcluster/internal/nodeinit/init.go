// SPDX-License-Identifier: Apache-2.0

package nodeinit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// restartDelay keeps a program that dies at once from eating a processor.
	restartDelay = time.Second
	// socketPoll is how often a missing socket is looked for.
	socketPoll = 50 * time.Millisecond
	// stopGrace is how long programs may take to end before the machine goes away under them.
	stopGrace = 3 * time.Second
)

// ErrAbandoned means that the command which started the machine died before the machine was complete.
var ErrAbandoned = errors.New("start was abandoned")

// Run is the life of a machine. It returns when the machine is told to stop.
func Run(path string) error {
	config, err := Load(path)
	if err != nil {
		return err
	}
	if err := waitForGo(); err != nil {
		return err
	}
	if err := prepare(config); err != nil {
		return err
	}
	m := &machine{config: config, running: map[int]int{}, start: make(chan int, len(config.Services))}
	return m.loop()
}

func waitForGo() error {
	pipe := os.NewFile(goFD, "go")
	defer func() { _ = pipe.Close() }()
	if _, err := io.ReadFull(pipe, make([]byte, 1)); err != nil {
		return ErrAbandoned
	}
	return nil
}

// prepare makes the namespaces into a machine.
func prepare(config Config) error {
	// Mounts made here must not reach the host, and what the host unmounts must not be held here; but between the
	// kubelet and containers mounts do propagate, as on any node.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("separate mounts: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""); err != nil {
		return fmt.Errorf("share mounts inside: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	// Sockets and locks below /run belong to one machine and do not survive its death.
	if err := unix.Mount("tmpfs", "/run", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
		return fmt.Errorf("mount /run: %w", err)
	}
	for _, bind := range config.Binds {
		if err := bindOwn(bind); err != nil {
			return err
		}
	}
	if err := unix.Sethostname([]byte(config.Hostname)); err != nil {
		return fmt.Errorf("set host name: %w", err)
	}
	for path, value := range map[string]string{"net/ipv4/ip_forward": "1", "net/ipv4/conf/all/rp_filter": "0"} {
		if err := os.WriteFile(filepath.Join("/proc/sys", path), []byte(value), 0o644); err != nil {
			return fmt.Errorf("set %s: %w", path, err)
		}
	}
	if err := os.MkdirAll(config.LogDir, 0o755); err != nil {
		return fmt.Errorf("create log folder: %w", err)
	}
	return nil
}

// bindOwn binds a folder as a place of its own. Left as it is, a bind shares what is mounted below it with its source:
// every volume would appear twice, and look as if two pods used it.
func bindOwn(bind Bind) error {
	if err := unix.Mount(bind.Source, bind.Target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s: %w", bind.Target, err)
	}
	for _, propagation := range []uintptr{unix.MS_PRIVATE, unix.MS_SHARED} {
		if err := unix.Mount("", bind.Target, "", propagation, ""); err != nil {
			return fmt.Errorf("separate %s: %w", bind.Target, err)
		}
	}
	return nil
}

// machine is the state of process 1; only its loop touches it.
type machine struct {
	config  Config
	running map[int]int // process id to index of its service
	start   chan int    // services that are due
	ending  bool
}

func (m *machine) loop() error {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGCHLD, unix.SIGTERM)
	for i := range m.config.Services {
		go m.startWhenReady(i, 0)
	}
	var deadline <-chan time.Time
	for {
		select {
		case i := <-m.start:
			m.startService(i)
		case sig := <-signals:
			if sig == unix.SIGTERM && !m.ending {
				m.ending = true
				deadline = time.After(stopGrace)
				m.signalAll()
			}
			m.reap()
			if m.ending && len(m.running) == 0 {
				return nil
			}
		case <-deadline:
			return nil // The kernel ends whatever is left when process 1 ends.
		}
	}
}

// startWhenReady hands a service to the loop after a delay and once its socket exists.
func (m *machine) startWhenReady(i int, delay time.Duration) {
	time.Sleep(delay)
	if path := m.config.Services[i].After; path != "" {
		tick := time.NewTicker(socketPoll)
		defer tick.Stop()
		for {
			if _, err := os.Stat(path); err == nil {
				break
			}
			<-tick.C
		}
	}
	m.start <- i
}

func (m *machine) startService(i int) {
	if m.ending {
		return
	}
	service := m.config.Services[i]
	log, err := os.OpenFile(filepath.Join(m.config.LogDir, service.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		m.reportf("open log of %s: %v", service.Name, err)
		return
	}
	defer func() { _ = log.Close() }()
	null, err := os.Open(os.DevNull)
	if err != nil {
		m.reportf("open %s: %v", os.DevNull, err)
		return
	}
	defer func() { _ = null.Close() }()
	pid, err := forkExec(service, null, log)
	if err != nil {
		m.reportf("start %s: %v", service.Name, err)
		go m.startWhenReady(i, restartDelay)
		return
	}
	m.running[pid] = i
}

// reap collects every child that ended, adopted ones too (containerd's shims outlive containerd), and has services
// started again.
func (m *machine) reap() {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		if err != nil || pid <= 0 {
			return
		}
		i, ok := m.running[pid]
		if !ok {
			continue
		}
		delete(m.running, pid)
		if !m.ending {
			m.reportf("%s ended (%s); starting it again", m.config.Services[i].Name, describe(status))
			go m.startWhenReady(i, restartDelay)
		}
	}
}

func (m *machine) signalAll() {
	for pid := range m.running {
		_ = unix.Kill(pid, unix.SIGTERM)
	}
}

func (m *machine) reportf(format string, args ...any) {
	_, _ = fmt.Fprintf(os.Stderr, "%s %s: %s\n", time.Now().UTC().Format(time.RFC3339Nano), m.config.Hostname, fmt.Sprintf(format, args...))
}

func describe(status unix.WaitStatus) string {
	if status.Signaled() {
		return "signal " + status.Signal().String()
	}
	return fmt.Sprintf("exit status %d", status.ExitStatus())
}
