// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/go-logr/logr"

	"github.com/keelson-dev/mysql-operator/internal/instance"
	"github.com/keelson-dev/mysql-operator/internal/instance/supervisor"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// runInstance runs one MySQL instance as PID 1 of its container. All it is told comes from the environment that the
// pod template sets.
func runInstance(args []string) error {
	flags := flag.NewFlagSet("instance", flag.ContinueOnError)
	verbosity := flags.Int("v", 0, "verbosity of the log: 1 tells what was decided and why, 2 details for the authors")
	if err := flags.Parse(args); err != nil {
		return err
	}
	cfg, err := instanceConfig()
	if err != nil {
		return err
	}
	cfg.Log = logr.FromSlogHandler(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{Level: slog.Level(-*verbosity)}))
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	sup := supervisor.New()
	if os.Getpid() == 1 {
		go sup.ReapOrphans(context.WithoutCancel(ctx))
	}
	m, err := instance.New(ctx, cfg, sup)
	if err != nil {
		return err
	}
	return m.Run(ctx)
}

func instanceConfig() (instance.Config, error) {
	namespace, cluster, name := os.Getenv(naming.EnvNamespace), os.Getenv(naming.EnvCluster), os.Getenv(naming.EnvInstance)
	if namespace == "" || cluster == "" || name == "" {
		return instance.Config{}, fmt.Errorf("%s, %s and %s must be set", naming.EnvNamespace, naming.EnvCluster, naming.EnvInstance)
	}
	if _, ok := naming.Ordinal(cluster, name); !ok {
		return instance.Config{}, fmt.Errorf("%s is no instance of cluster %s", name, cluster)
	}
	cfg := instance.PodConfig(namespace, cluster, name)
	cfg.Version = version
	limit := os.Getenv(naming.EnvMemoryLimit)
	var errs [2]error
	if limit != "" {
		cfg.MemoryLimit, errs[0] = strconv.ParseInt(limit, 10, 64)
	}
	cfg.BootID, errs[1] = instance.ReadBootID()
	return cfg, errors.Join(errs[:]...)
}
