// SPDX-License-Identifier: Apache-2.0

package nodeinit

import (
	"encoding/json"
	"fmt"
	"os"
)

// Config is what the first process of a machine reads when it starts.
type Config struct {
	Hostname string
	LogDir   string
	Binds    []Bind
	Services []Service
}

// Bind makes a folder of the machine's own appear at an ordinary place of the file system.
type Bind struct {
	Source string
	Target string // must exist
}

// Service is one program that a machine runs.
type Service struct {
	Name  string
	Args  []string // the program and its arguments
	Env   []string
	After string // path that must exist first, usually a socket
}

// Save writes the configuration for a machine that starts afterwards.
func (c Config) Save(path string) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("encode machine configuration: %w", err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return fmt.Errorf("write machine configuration: %w", err)
	}
	return nil
}

// Load reads what Save wrote.
func Load(path string) (Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("read machine configuration: %w", err)
	}
	var c Config
	if err := json.Unmarshal(text, &c); err != nil {
		return Config{}, fmt.Errorf("parse machine configuration: %w", err)
	}
	return c, nil
}
