// SPDX-License-Identifier: Apache-2.0

// Command manager is the one binary of the operator's image. Its sub-commands are
// the processes of the system: the operator, and what runs in the database pods.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
)

// version is set by the linker (-X main.version=…).
var version = "dev"

func main() {
	if err := newRootCommand(os.Getenv).ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

func newRootCommand(getenv func(string) string) *cobra.Command {
	root := &cobra.Command{
		Use:           "manager",
		Short:         "Keelson MySQL operator: every process of the system is a sub-command",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("name a sub-command; manager --help lists them")
		},
	}
	root.AddCommand(newOperatorCommand(getenv))

	return root
}
