// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// labelNamespaceName is the label that the API server puts on every namespace.
const labelNamespaceName = "kubernetes.io/metadata.name"

// NetworkPolicy lets anybody reach MySQL and the metrics, and only the cluster's own pods and the operator reach the
// managers. MySQL is open because accounts and TLS guard it and the operator cannot know who the applications are. The
// port of the probes is in no rule: they come from the pod's own node, which policies do not bind.
func NetworkPolicy(in Input) *networkingv1ac.NetworkPolicyApplyConfiguration {
	public := networkingv1ac.NetworkPolicyIngressRule().
		WithPorts(policyPort(naming.PortMySQL), policyPort(naming.PortMetrics))
	return networkingv1ac.NetworkPolicy(naming.NetworkPolicy(in.Cluster.Name), in.Cluster.Namespace).
		WithLabels(Labels(in.Cluster)).
		WithOwnerReferences(Owner(in.Cluster)).
		WithSpec(networkingv1ac.NetworkPolicySpec().
			WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(Selector(in.Cluster))).
			WithPolicyTypes(networkingv1.PolicyTypeIngress).
			WithIngress(public, managerRule(in)))
}

func managerRule(in Input) *networkingv1ac.NetworkPolicyIngressRuleApplyConfiguration {
	rule := networkingv1ac.NetworkPolicyIngressRule().WithPorts(policyPort(naming.PortManager))
	if in.Platform.OperatorNamespace == "" {
		// The operator runs outside the cluster and has no label to name; mutual TLS still guards the port.
		return rule
	}
	own := networkingv1ac.NetworkPolicyPeer().
		WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(Selector(in.Cluster)))
	operator := networkingv1ac.NetworkPolicyPeer().
		WithNamespaceSelector(metav1ac.LabelSelector().
			WithMatchLabels(map[string]string{labelNamespaceName: in.Platform.OperatorNamespace})).
		WithPodSelector(metav1ac.LabelSelector().
			WithMatchLabels(map[string]string{naming.LabelControlPlane: naming.ControlPlane}))
	return rule.WithFrom(own, operator)
}

func policyPort(port int32) *networkingv1ac.NetworkPolicyPortApplyConfiguration {
	return networkingv1ac.NetworkPolicyPort().WithProtocol(corev1.ProtocolTCP).WithPort(intstr.FromInt32(port))
}
