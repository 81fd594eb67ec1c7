// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"fmt"
	"maps"

	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// Platform is what the operator knows of the place it runs in.
type Platform struct {
	// OperatorImage is the operator's own image: the init container copies the manager binary from it.
	OperatorImage string
	// MySQLRepository is what spec.version is a tag of.
	MySQLRepository string
	// OperatorNamespace is where the operator's pods are; empty when it runs outside the cluster.
	OperatorNamespace string
	// AssignsUsers is true where the platform gives each namespace its own UIDs (OpenShift's SecurityContextConstraints):
	// a pod that names a UID is refused there.
	AssignsUsers bool
}

// Input is what the builders build from.
type Input struct {
	Cluster  *mysqlv1.MySQLCluster
	Platform Platform
}

// Image returns the MySQL image of a cluster.
func (in Input) Image() string {
	if in.Cluster.Spec.Image != "" {
		return in.Cluster.Spec.Image
	}
	return in.Platform.MySQLRepository + ":" + in.Cluster.Spec.Version
}

// Replicas returns the number of instances asked for.
func Replicas(cluster *mysqlv1.MySQLCluster) int32 {
	if cluster.Spec.Replicas == nil {
		return mysqlv1.DefaultReplicas
	}
	return *cluster.Spec.Replicas
}

// MinInSync returns how many instances must hold a write before it is acknowledged.
func MinInSync(cluster *mysqlv1.MySQLCluster) int32 {
	if cluster.Spec.Replication.MinInSync != nil {
		return *cluster.Spec.Replication.MinInSync
	}
	return min(Replicas(cluster), 2)
}

// InitDB returns the application's first database and its owner, with the CRD's defaults.
func InitDB(cluster *mysqlv1.MySQLCluster) mysqlv1.InitDBSpec {
	spec := mysqlv1.InitDBSpec{}
	if b := cluster.Spec.Bootstrap; b != nil && b.InitDB != nil {
		spec = *b.InitDB
	}
	const byDefault = "app" // the CRD's default
	if spec.Database == "" {
		spec.Database = byDefault
	}
	if spec.Owner == "" {
		spec.Owner = byDefault
	}
	return spec
}

// Selector returns the labels that select the pods of a cluster.
func Selector(cluster *mysqlv1.MySQLCluster) map[string]string {
	return map[string]string{naming.LabelCluster: cluster.Name}
}

// Labels returns the labels of every object of a cluster.
func Labels(cluster *mysqlv1.MySQLCluster) map[string]string {
	return map[string]string{
		naming.LabelCluster:      cluster.Name,
		naming.LabelAppName:      naming.AppName,
		naming.LabelAppInstance:  cluster.Name,
		naming.LabelAppComponent: naming.AppComponent,
		naming.LabelAppManagedBy: naming.AppManagedBy,
	}
}

// podLabels returns the labels of the pods: the cluster's, and the user's where they do not contradict.
func podLabels(cluster *mysqlv1.MySQLCluster) map[string]string {
	labels := map[string]string{}
	if cluster.Spec.PodTemplate != nil {
		maps.Copy(labels, cluster.Spec.PodTemplate.Labels)
	}
	maps.Copy(labels, Labels(cluster))
	return labels
}

// Owner returns the owner reference to a cluster. What has it is deleted with the cluster; volumes and the Secrets
// that belong to their content never have it, so that no garbage collector can take data away.
func Owner(cluster *mysqlv1.MySQLCluster) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(mysqlv1.GroupVersion.String()).
		WithKind("MySQLCluster").
		WithName(cluster.Name).
		WithUID(cluster.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}

// convert turns a value into another type of the same JSON: an API type into its apply configuration.
func convert[T any](from any) (*T, error) {
	text, err := json.Marshal(from)
	if err != nil {
		return nil, fmt.Errorf("write %T as JSON: %w", from, err)
	}
	to := new(T)
	if err := json.Unmarshal(text, to); err != nil {
		return nil, fmt.Errorf("read %T as %T: %w", from, to, err)
	}
	return to, nil
}
