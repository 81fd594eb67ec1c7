// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
)

func withPodSpec(text string) *mysqlv1.MySQLCluster {
	cluster := valid()
	cluster.Spec.PodTemplate = &mysqlv1.PodTemplateSpec{Spec: &runtime.RawExtension{Raw: []byte(text)}}
	return cluster
}

func TestPodTemplatesThatTouchWhatTheOperatorOwnsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spec string
		want []string // fields below spec.podTemplate.spec
	}{
		"an account":              {`{"serviceAccountName":"admin","serviceAccount":"admin","automountServiceAccountToken":true}`, []string{"serviceAccountName", "serviceAccount", "automountServiceAccountToken"}},
		"the node's namespaces":   {`{"hostNetwork":true,"hostPID":true,"hostIPC":true}`, []string{"hostNetwork", "hostPID", "hostIPC"}},
		"one process namespace":   {`{"shareProcessNamespace":true}`, []string{"shareProcessNamespace"}},
		"the end of the pod":      {`{"restartPolicy":"Never","activeDeadlineSeconds":5}`, []string{"restartPolicy", "activeDeadlineSeconds"}},
		"names of the pod":        {`{"hostname":"x","subdomain":"y","setHostnameAsFQDN":true}`, []string{"hostname", "subdomain", "setHostnameAsFQDN"}},
		"one node for all":        {`{"nodeName":"n1"}`, []string{"nodeName"}},
		"what placement is for":   {`{"affinity":{},"nodeSelector":{"a":"b"},"tolerations":[{}],"topologySpreadConstraints":[{}]}`, []string{"affinity", "nodeSelector", "tolerations", "topologySpreadConstraints"}},
		"pull secrets":            {`{"imagePullSecrets":[{"name":"x"}]}`, []string{"imagePullSecrets"}},
		"ephemeral containers":    {`{"ephemeralContainers":[{"name":"x"}]}`, []string{"ephemeralContainers"}},
		"root, for all":           {`{"securityContext":{"runAsUser":0}}`, []string{"securityContext.runAsUser"}},
		"a volume of ours":        {`{"volumes":[{"name":"mine"},{"name":"data"},{"name":"internal"}]}`, []string{"volumes[1].name", "volumes[2].name"}},
		"a volume without a name": {`{"volumes":[{"emptyDir":{}}]}`, []string{"volumes[0].name"}},
		"what mysql runs":         {`{"containers":[{"name":"mysql","command":["sh"],"args":["-c"],"workingDir":"/"}]}`, []string{"containers[0].command", "containers[0].args", "containers[0].workingDir"}},
		"the image of mysql":      {`{"containers":[{"name":"mysql","image":"mysql:5.7"}]}`, []string{"containers[0].image"}},
		"the ports of mysql":      {`{"containers":[{"name":"mysql","ports":[{"containerPort":3307}]}]}`, []string{"containers[0].ports"}},
		"the probes of mysql":     {`{"containers":[{"name":"mysql","livenessProbe":{},"readinessProbe":{},"startupProbe":{},"lifecycle":{}}]}`, []string{"containers[0].lifecycle", "containers[0].livenessProbe", "containers[0].readinessProbe", "containers[0].startupProbe"}},
		"the resources of mysql":  {`{"containers":[{"name":"mysql","resources":{"limits":{"cpu":"1"}}}]}`, []string{"containers[0].resources"}},
		"the environment of ours": {`{"containers":[{"name":"mysql","env":[{"name":"TZ"},{"name":"KEELSON_CLUSTER"}]}]}`, []string{"containers[0].env[1].name"}},
		"root, for mysql":         {`{"containers":[{"name":"mysql","securityContext":{"runAsUser":0}}]}`, []string{"containers[0].securityContext.runAsUser"}},
		"the restricted profile, for mysql": {
			`{"containers":[{"name":"mysql","securityContext":{"privileged":true,"allowPrivilegeEscalation":true,"readOnlyRootFilesystem":false,"runAsNonRoot":false,"capabilities":{"add":["SYS_ADMIN"]},"procMount":"Unmasked","seccompProfile":{"type":"Unconfined"}}}]}`,
			[]string{
				"containers[0].securityContext.allowPrivilegeEscalation", "containers[0].securityContext.capabilities",
				"containers[0].securityContext.privileged", "containers[0].securityContext.procMount",
				"containers[0].securityContext.readOnlyRootFilesystem", "containers[0].securityContext.runAsNonRoot",
				"containers[0].securityContext.seccompProfile",
			},
		},
		"the restricted profile, for all": {`{"securityContext":{"runAsNonRoot":false,"seccompProfile":{"type":"Unconfined"}}}`, []string{"securityContext.runAsNonRoot", "securityContext.seccompProfile"}},
		"our files in a sidecar":          {`{"containers":[{"name":"a","image":"x","volumeMounts":[{"name":"mine","mountPath":"/m"},{"name":"internal","mountPath":"/x"}],"volumeDevices":[{"name":"data"}]}],"initContainers":[{"name":"b","image":"x","volumeMounts":[{"name":"tls","mountPath":"/x"}]}]}`, []string{"containers[0].volumeMounts[1].name", "containers[0].volumeDevices[0].name", "initContainers[0].volumeMounts[0].name"}},
		"mounts over our files":           {`{"containers":[{"name":"mysql","volumeMounts":[{"mountPath":"/var/lib/mysql"},{"mountPath":"/var/lib/"},{"mountPath":"/var/lib/mysql/data"},{"mountPath":"/"},{"mountPath":"/etc/keelson/x"},{"mountPath":"/etc/keelson"}]}]}`, []string{"containers[0].volumeMounts[0].mountPath", "containers[0].volumeMounts[1].mountPath", "containers[0].volumeMounts[2].mountPath", "containers[0].volumeMounts[3].mountPath", "containers[0].volumeMounts[5].mountPath"}},
		"a container no one named":        {`{"containers":[{"image":"x"}],"initContainers":[{"image":"x"}]}`, []string{"containers[0].name", "initContainers[0].name"}},
		"our init container":              {`{"initContainers":[{"name":"install","image":"x"},{"name":"mysql","image":"x"}]}`, []string{"initContainers[0].name", "initContainers[1].name"}},
		"install as a container":          {`{"containers":[{"name":"install","image":"x"}]}`, []string{"containers[0].name"}},
		"a sidecar of no image":           {`{"containers":[{"name":"proxy"}],"initContainers":[{"name":"wait"}]}`, []string{"containers[0].image", "initContainers[0].image"}},
		"a patch directive":               {`{"containers":[{"name":"mysql","$patch":"delete"}]}`, []string{""}},
		"a misspelled field":              {`{"containerz":[]}`, []string{""}},
		"a field in another case":         {`{"HostNetwork":true}`, []string{""}},
		"a field twice":                   {`{"hostPID":false,"hostPID":false}`, []string{""}},
		"not a PodSpec":                   {`[1]`, []string{""}},
		"not JSON":                        {`{`, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range ValidateCreate(withPodSpec(c.spec)) {
				got = append(got, strings.TrimPrefix(strings.TrimPrefix(e.Field, "spec.podTemplate.spec"), "."))
				if e.Detail == "" {
					t.Errorf("%s is refused without a word", e.Field)
				}
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("refused fields mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRefusalDoesNotQuoteThePodTemplate: its environment may hold passwords, and the sentence lands in the status.
func TestRefusalDoesNotQuoteThePodTemplate(t *testing.T) {
	for name, text := range map[string]string{
		"a misspelled field": `{"containerz":[],"containers":[{"name":"mysql","env":[{"name":"A","value":"s3cret"}]}]}`,
		"not JSON":           `{"containers":[{"name":"mysql","env":[{"name":"A","value":"s3cret"}]}]`,
	} {
		t.Run(name, func(t *testing.T) {
			err := ValidateCreate(withPodSpec(text)).ToAggregate()
			if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), messageBadPodSpec) {
				t.Errorf("ValidateCreate() = %v, want the sentence and no value", err)
			}
		})
	}
}

func TestPodTemplatesMayAdd(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                    ``,
		"an empty spec":              `{}`,
		"a sidecar and its volume":   `{"volumes":[{"name":"logs","emptyDir":{}}],"containers":[{"name":"shipper","image":"x","volumeMounts":[{"name":"logs","mountPath":"/logs"}]}]}`,
		"an init container":          `{"initContainers":[{"name":"sysctl","image":"x"}]}`,
		"environment":                `{"containers":[{"name":"mysql","env":[{"name":"TZ","value":"UTC"}]}]}`,
		"a mount elsewhere":          `{"containers":[{"name":"mysql","volumeMounts":[{"name":"x","mountPath":"/var/lib/mysql-files"}]}]}`,
		"a mount below tmp":          `{"containers":[{"name":"mysql","volumeMounts":[{"name":"x","mountPath":"/tmp/x"}]}]}`,
		"a user":                     `{"securityContext":{"runAsUser":1001,"fsGroup":1001}}`,
		"what is restricted anyway":  `{"containers":[{"name":"mysql","securityContext":{"privileged":false,"allowPrivilegeEscalation":false,"readOnlyRootFilesystem":true,"runAsNonRoot":true}}]}`,
		"a priority and a scheduler": `{"priorityClassName":"high","schedulerName":"other","terminationGracePeriodSeconds":60}`,
	} {
		t.Run(name, func(t *testing.T) {
			if errs := ValidateCreate(withPodSpec(text)); len(errs) > 0 {
				t.Errorf("ValidateCreate() = %v, want nothing", errs)
			}
		})
	}
}

func FuzzPodSpecNeverPanics(f *testing.F) {
	f.Add([]byte(`{"containers":[{"name":"mysql","securityContext":{"runAsUser":0}}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		cluster := withPodSpec(string(raw))
		for _, e := range ValidateUpdate(valid(), cluster) {
			if e.Detail == "" || e.Field == "" {
				t.Errorf("an error without a field or a sentence: %v", e)
			}
		}
	})
}
