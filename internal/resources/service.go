// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// Services returns the Services of a cluster: the headless one first, since pods have no names without it.
func Services(in Input) []*corev1ac.ServiceApplyConfiguration {
	name := in.Cluster.Name
	return []*corev1ac.ServiceApplyConfiguration{
		headless(in),
		service(in, naming.ServiceRW(name), map[string]string{naming.LabelRole: naming.RolePrimary}),
		service(in, naming.ServiceRO(name), map[string]string{naming.LabelTraffic: naming.TrafficRO}),
		service(in, naming.ServiceR(name), nil),
	}
}

func service(in Input, name string, selector map[string]string) *corev1ac.ServiceApplyConfiguration {
	all := Selector(in.Cluster)
	maps.Copy(all, selector)
	return corev1ac.Service(name, in.Cluster.Namespace).
		WithLabels(Labels(in.Cluster)).
		WithOwnerReferences(Owner(in.Cluster)).
		WithSpec(corev1ac.ServiceSpec().
			WithType(corev1.ServiceTypeClusterIP).
			WithSelector(all).
			WithPorts(servicePort(naming.PortNameMySQL, naming.PortMySQL)))
}

// headless gives every instance a DNS name, Ready or not: instances find each other before any of them is Ready.
func headless(in Input) *corev1ac.ServiceApplyConfiguration {
	return corev1ac.Service(naming.Headless(in.Cluster.Name), in.Cluster.Namespace).
		WithLabels(Labels(in.Cluster)).
		WithOwnerReferences(Owner(in.Cluster)).
		WithSpec(corev1ac.ServiceSpec().
			WithType(corev1.ServiceTypeClusterIP).
			WithClusterIP(corev1.ClusterIPNone).
			WithPublishNotReadyAddresses(true).
			WithSelector(Selector(in.Cluster)).
			WithPorts(
				servicePort(naming.PortNameMySQL, naming.PortMySQL),
				servicePort(naming.PortNameManager, naming.PortManager),
			))
}

func servicePort(name string, port int32) *corev1ac.ServicePortApplyConfiguration {
	return corev1ac.ServicePort().
		WithName(name).
		WithProtocol(corev1.ProtocolTCP).
		WithPort(port).
		WithTargetPort(intstr.FromString(name))
}
