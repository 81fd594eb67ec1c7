// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/mycnf"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// ConfigMap returns the ConfigMap with the MySQL settings. The instance renders my.cnf from it, since only it knows
// the version of the mysqld it has.
func ConfigMap(in Input) (*corev1ac.ConfigMapApplyConfiguration, error) {
	text, err := settings(in.Cluster)
	if err != nil {
		return nil, err
	}
	return corev1ac.ConfigMap(naming.ConfigMap(in.Cluster.Name), in.Cluster.Namespace).
		WithLabels(Labels(in.Cluster)).
		WithOwnerReferences(Owner(in.Cluster)).
		WithData(map[string]string{naming.SettingsKey: string(text)}), nil
}

// settings returns the content of the ConfigMap. Keys come out sorted, so the same settings give the same text.
func settings(cluster *mysqlv1.MySQLCluster) ([]byte, error) {
	text, err := json.Marshal(mycnf.Settings{Version: cluster.Spec.Version, Config: cluster.Spec.MySQL.Config})
	if err != nil {
		return nil, fmt.Errorf("write MySQL settings: %w", err)
	}
	return text, nil
}

// configHash is what makes a changed setting a changed pod template.
func configHash(cluster *mysqlv1.MySQLCluster) (string, error) {
	text, err := settings(cluster)
	if err != nil {
		return "", err
	}
	const enough = 8 // bytes; it tells versions of one cluster's settings apart
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:enough]), nil
}
