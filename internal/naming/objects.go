// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxClusterName is the longest cluster name accepted. The longest derived name is a PVC, "data-<c>-NN", and the
// StatefulSet controller adds an eleven-character revision suffix to a label: 40 leaves room for both in 63.
const MaxClusterName = 40

// StatefulSet returns the name of the StatefulSet, which is the cluster's own.
func StatefulSet(cluster string) string { return cluster }

// Instance returns the name of instance number ordinal: its pod, its certificate and its word in every log line.
func Instance(cluster string, ordinal int) string { return cluster + "-" + strconv.Itoa(ordinal) }

// Ordinal returns the number at the end of an instance name of that cluster; ok is false for any other name.
func Ordinal(cluster, instance string) (ordinal int, ok bool) {
	rest, found := strings.CutPrefix(instance, cluster+"-")
	if !found {
		return 0, false
	}
	n, err := strconv.Atoi(rest)
	if err != nil || n < 0 || strconv.Itoa(n) != rest {
		return 0, false
	}
	return n, true
}

// PVC returns the name of an instance's data volume claim, as the StatefulSet controller forms it.
func PVC(instance string) string { return VolumeData + "-" + instance }

// Headless returns the name of the headless Service that gives every instance a DNS name, Ready or not.
func Headless(cluster string) string { return cluster + "-pods" }

// ServiceRW returns the name of the Service of the primary.
func ServiceRW(cluster string) string { return cluster + "-rw" }

// ServiceRO returns the name of the Service of replicas within the lag limit.
func ServiceRO(cluster string) string { return cluster + "-ro" }

// ServiceR returns the name of the Service of any Ready instance.
func ServiceR(cluster string) string { return cluster + "-r" }

// ConfigMap returns the name of the ConfigMap with the MySQL settings (key SettingsKey).
func ConfigMap(cluster string) string { return cluster + "-config" }

// SecretCA returns the name of the Secret with the cluster's certificate authority; only the operator reads it.
func SecretCA(cluster string) string { return cluster + "-ca" }

// SecretTLS returns the name of the Secret with the instances' certificates: ca.crt, and <instance>.crt and
// <instance>.key for each instance.
func SecretTLS(cluster string) string { return cluster + "-tls" }

// CertKey returns the key of SecretTLS that has the certificate of an instance.
func CertKey(instance string) string { return instance + ".crt" }

// PrivateKey returns the key of SecretTLS that has the private key of an instance.
func PrivateKey(instance string) string { return instance + ".key" }

// SecretInternal returns the name of the Secret with the operator's own passwords (keys Key…).
func SecretInternal(cluster string) string { return cluster + "-internal" }

// SecretApp returns the name of the Secret with the application owner's connection data.
func SecretApp(cluster string) string { return cluster + "-app" }

// PDB returns the name of the PodDisruptionBudget.
func PDB(cluster string) string { return cluster }

// ServiceAccount returns the name of the instances' ServiceAccount, which mounts no token.
func ServiceAccount(cluster string) string { return cluster + "-instance" }

// NetworkPolicy returns the name of the instances' NetworkPolicy.
func NetworkPolicy(cluster string) string { return cluster }

// PodMonitor returns the name of the PodMonitor.
func PodMonitor(cluster string) string { return cluster }

// InstanceHost returns the DNS name of an instance inside the Kubernetes cluster, without the cluster domain, so
// that it resolves under any.
func InstanceHost(namespace, cluster, instance string) string {
	return fmt.Sprintf("%s.%s.%s.svc", instance, Headless(cluster), namespace)
}

// ServiceHost returns the DNS name of a Service inside the Kubernetes cluster.
func ServiceHost(namespace, service string) string { return service + "." + namespace + ".svc" }
