// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/json"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

func validatePodTemplate(p *mysqlv1.PodTemplateSpec, path *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	return slices.Concat(
		validateKeys(p.Labels, path.Child("labels"), messageLabels, naming.Group+"/", "app.kubernetes.io/"),
		validateKeys(p.Annotations, path.Child("annotations"), messageAnnotations, naming.Group+"/"),
		validatePodSpec(p.Spec, path.Child("spec")),
	)
}

func validateKeys(m map[string]string, path *field.Path, message string, reserved ...string) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if slices.ContainsFunc(reserved, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			errs = append(errs, field.Forbidden(path.Key(key), message))
		}
	}
	return errs
}

// validatePodSpec reads the free part of the pod template strictly: a misspelled field would be dropped in silence, and
// a directive of a strategic merge patch ("$patch": "delete") could take away what the operator put there.
func validatePodSpec(raw *runtime.RawExtension, path *field.Path) field.ErrorList {
	if raw == nil || len(raw.Raw) == 0 {
		return nil
	}
	var pod corev1.PodSpec
	strict, err := json.UnmarshalStrict(raw.Raw, &pod)
	if err != nil {
		// Without the value: it may hold passwords, and all of it in front of the sentence would push the advice out of a
		// condition, which is cut.
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, messageBadPodSpec+": "+err.Error())}
	}
	var errs field.ErrorList
	for _, e := range strict {
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, messageBadPodSpec+": "+e.Error()))
	}
	return slices.Concat(
		errs,
		validatePodFields(&pod, path),
		validateVolumes(pod.Volumes, path.Child("volumes")),
		validateContainers(&pod, path),
	)
}

// ownedField is a field of a PodSpec that is not the user's to set here.
type ownedField struct {
	name    string
	set     bool
	message string
}

func validatePodFields(pod *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s := pod.SecurityContext; s != nil {
		errs = append(errs, validateSecurity(&corev1.SecurityContext{
			RunAsUser: s.RunAsUser, RunAsNonRoot: s.RunAsNonRoot, SeccompProfile: s.SeccompProfile,
		}, path.Child("securityContext"))...)
	}
	for _, f := range slices.Concat(isolationFields(pod), lifecycleFields(pod), elsewhereFields(pod)) {
		if f.set {
			errs = append(errs, field.Forbidden(path.Child(f.name), f.message))
		}
	}
	return errs
}

// isolationFields: instances have an account without rights and share nothing with their node.
func isolationFields(pod *corev1.PodSpec) []ownedField {
	const (
		account = messageOperatorPart + ": instances run under an account without rights, and mount no token"
		host    = messageOperatorPart + ": instances share nothing with their node"
	)
	return []ownedField{
		{"serviceAccountName", pod.ServiceAccountName != "", account},
		{"serviceAccount", pod.DeprecatedServiceAccount != "", account},
		{"automountServiceAccountToken", pod.AutomountServiceAccountToken != nil, account},
		{"hostNetwork", pod.HostNetwork, host},
		{"hostPID", pod.HostPID, host},
		{"hostIPC", pod.HostIPC, host},
		{"shareProcessNamespace", pod.ShareProcessNamespace != nil, messageOperatorPart + ": the manager is process 1 of its container and reaps what dies there"},
	}
}

// lifecycleFields: the manager decides when mysqld starts and stops, and peers find each other by name.
func lifecycleFields(pod *corev1.PodSpec) []ownedField {
	const (
		life = messageOperatorPart + ": it decides when an instance ends"
		name = messageOperatorPart + ": instances find each other by these names"
	)
	return []ownedField{
		{"restartPolicy", pod.RestartPolicy != "", life},
		{"activeDeadlineSeconds", pod.ActiveDeadlineSeconds != nil, life},
		{"ephemeralContainers", len(pod.EphemeralContainers) > 0, messageOperatorPart + ": use kubectl debug on a running pod"},
		{"hostname", pod.Hostname != "", name},
		{"subdomain", pod.Subdomain != "", name},
		{"setHostnameAsFQDN", pod.SetHostnameAsFQDN != nil, name},
		{"nodeName", pod.NodeName != "", messageOperatorPart + ": all instances would be on one node; use spec.placement"},
	}
}

// elsewhereFields have a place of their own in the spec: two places for one thing would contradict each other.
func elsewhereFields(pod *corev1.PodSpec) []ownedField {
	return []ownedField{
		{"affinity", pod.Affinity != nil, "use spec.placement.affinity"},
		{"nodeSelector", len(pod.NodeSelector) > 0, "use spec.placement.nodeSelector"},
		{"tolerations", len(pod.Tolerations) > 0, "use spec.placement.tolerations"},
		{"topologySpreadConstraints", len(pod.TopologySpreadConstraints) > 0, "use spec.placement.topologySpread"},
		{"imagePullSecrets", len(pod.ImagePullSecrets) > 0, "use spec.imagePullSecrets"},
	}
}

// operatorVolumes are the volumes of naming.
func operatorVolumes() []string {
	return []string{
		naming.VolumeData, naming.VolumeRun, naming.VolumeBin, naming.VolumeTmp, naming.VolumeConfig, naming.VolumeInternal,
		naming.VolumeApp, naming.VolumeTLS,
	}
}

func validateVolumes(volumes []corev1.Volume, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, v := range volumes {
		switch {
		case v.Name == "":
			errs = append(errs, field.Required(path.Index(i).Child("name"), messageNoName))
		case slices.Contains(operatorVolumes(), v.Name):
			errs = append(errs, field.Forbidden(path.Index(i).Child("name"), "the volume "+v.Name+" is the operator's: choose another name"))
		}
	}
	return errs
}
