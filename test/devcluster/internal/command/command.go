// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// tailBytes is how much of a failed program's output its error repeats: enough for the reason, too little to hide it.
const tailBytes = 2000

// Run runs a program to its end. Its output is kept for the error only.
func Run(ctx context.Context, name string, args ...string) error {
	_, err := Output(ctx, name, args...)
	return err
}

// Output runs a program to its end and returns its standard output.
func Output(ctx context.Context, name string, args ...string) (string, error) {
	var stdout, all bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout = io.MultiWriter(&stdout, &all)
	cmd.Stderr = &all
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("run %s %s: %w: %s", name, strings.Join(args, " "), err, tail(all.String()))
	}
	return stdout.String(), nil
}

func tail(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > tailBytes {
		return "… " + s[len(s)-tailBytes:]
	}
	return s
}
