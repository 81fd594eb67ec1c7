// SPDX-License-Identifier: Apache-2.0

package instancetest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"github.com/go-logr/logr"

	"github.com/keelson-dev/mysql-operator/internal/instance"
	"github.com/keelson-dev/mysql-operator/internal/instance/layout"
	"github.com/keelson-dev/mysql-operator/internal/instance/supervisor"
)

// envSetup makes this test binary run one manager instead of tests.
const envSetup = "KEELSON_TEST_INSTANCE"

// setup is what the process of one manager is told.
type setup struct {
	Namespace, Cluster, Instance string
	Paths                        layout.Paths
	Ports                        ports
	// Managers are the manager ports of all instances.
	Managers map[string]int
	BootID   string
	Options  []string
}

type ports struct{ Manager, Probes, Metrics, MySQL, Admin int }

func TestMain(m *testing.M) {
	if file := os.Getenv(envSetup); file != "" { //nolint:forbidigo // how the harness tells its child what to be
		if err := runManager(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1) //nolint:forbidigo // the main function of the child
		}
		return
	}
	m.Run()
}

func runManager(file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var s setup
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	cfg := instance.PodConfig(s.Namespace, s.Cluster, s.Instance)
	cfg.Paths, cfg.BootID, cfg.Version, cfg.MysqldOptions = s.Paths, s.BootID, "test", s.Options
	cfg.ManagerAddress, cfg.ProbesAddress, cfg.MetricsAddress = local(s.Ports.Manager), local(s.Ports.Probes), local(s.Ports.Metrics)
	cfg.BindAddress, cfg.Port, cfg.AdminPort = "127.0.0.1", s.Ports.MySQL, s.Ports.Admin
	cfg.PeerAddress = func(peer string) string { return local(s.Managers[peer]) }
	cfg.MemoryLimit = 512 << 20
	cfg.Log = logr.FromSlogHandler(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{Level: slog.Level(-2)}))
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM) //nolint:forbidigo // the main function of the child
	defer cancel()
	m, err := instance.New(ctx, cfg, supervisor.New())
	if err != nil {
		return err
	}
	return m.Run(ctx)
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
