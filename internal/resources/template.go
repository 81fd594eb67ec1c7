// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// mergeTemplate merges podTemplate.spec over base by strategic merge, and puts back what the operator owns.
func mergeTemplate(cluster *mysqlv1.MySQLCluster, base *corev1ac.PodSpecApplyConfiguration) (*corev1ac.PodSpecApplyConfiguration, error) {
	template := cluster.Spec.PodTemplate
	if template == nil || template.Spec == nil || len(template.Spec.Raw) == 0 {
		return base, nil
	}
	original, err := json.Marshal(base)
	if err != nil {
		return nil, fmt.Errorf("write pod spec: %w", err)
	}
	text, err := strategicpatch.StrategicMergePatch(original, template.Spec.Raw, corev1.PodSpec{})
	if err != nil {
		return nil, fmt.Errorf("merge podTemplate.spec: %w", err)
	}
	merged := &corev1ac.PodSpecApplyConfiguration{}
	if err := json.Unmarshal(text, merged); err != nil {
		return nil, fmt.Errorf("read merged pod spec: %w", err)
	}
	return protect(merged, base), nil
}

// protect puts back into merged what the operator owns. Without its volumes, command, ports or identity an instance
// would run without the manager, or with somebody else's data.
func protect(merged, base *corev1ac.PodSpecApplyConfiguration) *corev1ac.PodSpecApplyConfiguration {
	merged.ServiceAccountName = base.ServiceAccountName
	merged.AutomountServiceAccountToken = base.AutomountServiceAccountToken
	merged.Volumes = restore(merged.Volumes, base.Volumes, func(v corev1ac.VolumeApplyConfiguration) string {
		return ptr.Deref(v.Name, "")
	})
	merged.InitContainers = restore(merged.InitContainers, base.InitContainers, containerName)
	merged.Containers = restore(merged.Containers, protectMySQL(merged, base), containerName)
	return merged
}

// protectMySQL returns the container mysql as the user changed it, with what the operator owns put back.
func protectMySQL(merged, base *corev1ac.PodSpecApplyConfiguration) []corev1ac.ContainerApplyConfiguration {
	own := base.Containers[0]
	at := slices.IndexFunc(merged.Containers, func(c corev1ac.ContainerApplyConfiguration) bool {
		return containerName(c) == naming.ContainerMySQL
	})
	if at < 0 { // the patch deleted it
		return base.Containers
	}
	mysql := merged.Containers[at]
	mysql.Command, mysql.Args, mysql.Ports = own.Command, nil, own.Ports
	mysql.Env = restore(mysql.Env, own.Env, func(e corev1ac.EnvVarApplyConfiguration) string { return ptr.Deref(e.Name, "") })
	mysql.VolumeMounts = restore(mysql.VolumeMounts, own.VolumeMounts, func(m corev1ac.VolumeMountApplyConfiguration) string {
		return ptr.Deref(m.MountPath, "")
	})
	return []corev1ac.ContainerApplyConfiguration{mysql}
}

func containerName(c corev1ac.ContainerApplyConfiguration) string { return ptr.Deref(c.Name, "") }

// restore returns own, followed by those of list whose key is not among own's.
func restore[T any](list, own []T, key func(T) string) []T {
	out := slices.Clone(own)
	for _, item := range list {
		taken := slices.ContainsFunc(own, func(o T) bool { return key(o) == key(item) })
		if !taken {
			out = append(out, item)
		}
	}
	return out
}
