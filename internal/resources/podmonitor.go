// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// PodMonitorKind is the kind of the Prometheus operator's PodMonitor.
func PodMonitorKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "PodMonitor"}
}

// PodMonitor tells a Prometheus operator to scrape the instances. Its types are not ours to import, so it is built
// as plain data.
func PodMonitor(in Input) *unstructured.Unstructured {
	owner := Owner(in.Cluster)
	out := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{
			"selector":            map[string]any{"matchLabels": anyMap(Selector(in.Cluster))},
			"podMetricsEndpoints": []any{map[string]any{"port": naming.PortNameMetrics}},
			"podTargetLabels":     []any{naming.LabelCluster, naming.LabelInstance, naming.LabelRole},
		},
	}}
	out.SetGroupVersionKind(PodMonitorKind())
	out.SetName(in.Cluster.Name)
	out.SetNamespace(in.Cluster.Namespace)
	out.SetLabels(Labels(in.Cluster))
	_ = unstructured.SetNestedSlice(out.Object, []any{map[string]any{
		"apiVersion":         *owner.APIVersion,
		"kind":               *owner.Kind,
		"name":               *owner.Name,
		"uid":                string(*owner.UID),
		"controller":         true,
		"blockOwnerDeletion": true,
	}}, "metadata", "ownerReferences")
	return out
}

func anyMap(in map[string]string) map[string]any {
	out := make(map[string]any, len(in))
	for k, v := range in {
		out[k] = v
	}
	return out
}
