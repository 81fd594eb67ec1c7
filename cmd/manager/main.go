// SPDX-License-Identifier: Apache-2.0

// Command manager is the one binary of the operator's image. Its sub-commands are
// the processes of the system: the operator, and what runs in the database pods.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// version is set by the linker (-X main.version=…).
var version = "dev"

// command is one process of the system.
type command struct {
	name    string
	summary string
	run     func(args []string) error
}

// commands lists the sub-commands in the order in which help shows them.
func commands() []command {
	return []command{
		{name: "operator", summary: "run the reconcilers: the process behind the operator's Deployment", run: runOperator},
		{name: "instance", summary: "run one MySQL instance, as PID 1 of its container", run: runInstance},
		{name: "install", summary: "copy this binary and the settings into an instance pod, as its init container", run: runInstall},
	}
}

func main() {
	err := dispatch(commands(), os.Stdout, os.Args[1:])
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

func dispatch(commands []command, output io.Writer, args []string) error {
	if len(args) == 0 {
		return errors.New("name a sub-command; manager help lists them")
	}
	for _, c := range commands {
		if c.name == args[0] {
			return c.run(args[1:])
		}
	}
	switch args[0] {
	case "version":
		_, err := fmt.Fprintln(output, version)

		return err
	case "help", "-h", "--help":
		return help(commands, output)
	}

	return fmt.Errorf("%q is no sub-command; manager help lists them", args[0])
}

func help(commands []command, output io.Writer) error {
	_, err := fmt.Fprintln(output, "Usage: manager SUB-COMMAND [FLAGS]")
	for _, c := range append(commands, command{name: "version", summary: "print the version"}) {
		if err == nil {
			_, err = fmt.Fprintf(output, "  %-10s %s\n", c.name, c.summary)
		}
	}

	return err
}
