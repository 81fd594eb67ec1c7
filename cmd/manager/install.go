// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"os"

	"github.com/keelson-dev/mysql-operator/internal/instance"
	"github.com/keelson-dev/mysql-operator/internal/instance/layout"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// runInstall is the init container of an instance pod: it brings this binary into the MySQL container, and keeps the
// settings as they are now.
func runInstall(args []string) error {
	flags := flag.NewFlagSet("install", flag.ContinueOnError)
	into := flags.String("into", naming.PathBin, "folder to copy this binary to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return instance.Install(self, *into, layout.Pod())
}
