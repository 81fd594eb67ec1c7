// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
)

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: %[1]s, cluster: {server: "%[2]s", certificate-authority-data: %[3]s}}]
users: [{name: %[1]s, user: {client-certificate-data: %[4]s, client-key-data: %[5]s}}]
contexts: [{name: %[1]s, context: {cluster: %[1]s, user: %[1]s}}]
current-context: %[1]s
`

// Kubeconfig writes a kubeconfig for the identity whose certificate is FILE.crt; context is its only context's name.
func (a *Authority) Kubeconfig(path, file, context, server string) error {
	var data [3]string
	for i, name := range []string{"ca.crt", file + ".crt", file + ".key"} {
		text, err := os.ReadFile(filepath.Join(a.dir, name))
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		data[i] = base64.StdEncoding.EncodeToString(text)
	}
	text := fmt.Sprintf(kubeconfig, context, server, data[0], data[1], data[2])
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}
