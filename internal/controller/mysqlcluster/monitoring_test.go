// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/keelson-dev/mysql-operator/internal/kube"
	"github.com/keelson-dev/mysql-operator/internal/resources"
)

// podMonitorCRD is as much of the Prometheus operator's definition as this test needs.
func podMonitorCRD() *apiextensionsv1.CustomResourceDefinition {
	anything := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "podmonitors.monitoring.coreos.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "monitoring.coreos.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "podmonitors", Singular: "podmonitor", Kind: "PodMonitor", ListKind: "PodMonitorList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &anything,
				}},
			}},
		},
	}
}

func TestPodMonitorIsMadeOnceItsKindExists(t *testing.T) {
	config := server.Config(t)
	api, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	features := kube.NewFeatures(api, clock)
	if err := features.Refresh(); err != nil || features.HasPodMonitors() {
		t.Fatalf("before the kind exists: %t, %v", features.HasPodMonitors(), err)
	}
	_, err = envtest.InstallCRDs(config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{podMonitorCRD()}})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- features.Start(t.Context()) }()
	gomega.NewWithT(t).Eventually(func() bool {
		clock.Step(kube.FeatureInterval)
		return features.HasPodMonitors()
	}, time.Minute).Should(gomega.BeTrue())

	e := newEnv(t, 1)
	e.r.Monitoring = features.HasPodMonitors
	e.create(e.cluster(1))
	e.mustSettle()
	monitor := &unstructured.Unstructured{}
	monitor.SetGroupVersionKind(resources.PodMonitorKind())
	e.must(e.api.Get(t.Context(), client.ObjectKey{Namespace: e.key.Namespace, Name: e.key.Name}, monitor))
	if owners := monitor.GetOwnerReferences(); len(owners) != 1 || owners[0].Kind != "MySQLCluster" {
		t.Errorf("owners are %v, want the cluster", owners)
	}
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
