// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// OwnedSecret returns a Secret that is deleted with the cluster: what it holds can be made again.
func OwnedSecret(in Input, name string, data map[string][]byte) *corev1ac.SecretApplyConfiguration {
	return secret(in, name, data).WithOwnerReferences(Owner(in.Cluster))
}

// KeptSecret returns a Secret that belongs to the data on the volumes and outlives the cluster with them.
func KeptSecret(in Input, name string, data map[string][]byte) *corev1ac.SecretApplyConfiguration {
	return secret(in, name, data)
}

func secret(in Input, name string, data map[string][]byte) *corev1ac.SecretApplyConfiguration {
	return corev1ac.Secret(name, in.Cluster.Namespace).
		WithLabels(Labels(in.Cluster)).
		WithType(corev1.SecretTypeOpaque).
		WithData(data)
}

// AppData returns the content of the application's Secret: everything that a program needs to connect.
func AppData(in Input, password, caCert []byte) map[string][]byte {
	db := InitDB(in.Cluster)
	host := naming.ServiceHost(in.Cluster.Namespace, naming.ServiceRW(in.Cluster.Name))
	uri := url.URL{
		Scheme:   "mysql",
		User:     url.UserPassword(db.Owner, string(password)),
		Host:     fmt.Sprintf("%s:%d", host, naming.PortMySQL),
		Path:     "/" + db.Database,
		RawQuery: url.Values{"ssl-mode": {"REQUIRED"}}.Encode(),
	}
	return map[string][]byte{
		naming.KeyAppHost:     []byte(host),
		naming.KeyAppPort:     []byte(strconv.Itoa(naming.PortMySQL)),
		naming.KeyAppDatabase: []byte(db.Database),
		naming.KeyAppUsername: []byte(db.Owner),
		naming.KeyAppPassword: password,
		naming.KeyAppURI:      []byte(uri.String()),
		naming.KeyCACert:      caCert,
	}
}
