// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/command"
)

// Loop is an attached loop device.
type Loop struct {
	Device string // /dev/loopN
	File   string
}

// Loops are the loop devices over files below dir.
func Loops(dir string) ([]Loop, error) {
	files, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return nil, fmt.Errorf("list loop devices: %w", err)
	}
	var loops []Loop
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // Detached while the list was read.
		}
		backing := strings.TrimSuffix(strings.TrimSpace(string(text)), " (deleted)")
		if strings.HasPrefix(backing, dir+"/") {
			device := filepath.Base(filepath.Dir(filepath.Dir(file)))
			loops = append(loops, Loop{Device: "/dev/" + device, File: backing})
		}
	}
	return loops, nil
}

// ReleaseLoops detaches the loop devices over files below dir. They detach themselves when the last mount goes, which
// happens a moment after the last process died; what is left after patience is an error.
func ReleaseLoops(ctx context.Context, dir string, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for {
		loops, err := Loops(dir)
		if err != nil || len(loops) == 0 {
			return err
		}
		for _, loop := range loops {
			_ = command.Run(ctx, "losetup", "-d", loop.Device) // In use: it detaches when its mount goes.
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("detach %s: still in use", loops[0].Device)
		}
		time.Sleep(pause)
	}
}
