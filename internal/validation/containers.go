// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/keelson-dev/mysql-operator/internal/naming"
)

func validateContainers(pod *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range pod.Containers {
		c, at := &pod.Containers[i], at.Child("containers").Index(i)
		switch c.Name {
		case "":
			errs = append(errs, field.Required(at.Child("name"), messageNoName))
		case naming.ContainerInstall:
			errs = append(errs, field.Forbidden(at.Child("name"), "the container install is the operator's: choose another name"))
		case naming.ContainerMySQL:
			errs = append(errs, validateMySQLContainer(c, at)...)
		default:
			errs = append(errs, validateSidecar(c, at)...)
		}
	}
	for i := range pod.InitContainers {
		c, at := &pod.InitContainers[i], at.Child("initContainers").Index(i)
		switch c.Name {
		case "":
			errs = append(errs, field.Required(at.Child("name"), messageNoName))
		case naming.ContainerInstall, naming.ContainerMySQL:
			errs = append(errs, field.Forbidden(at.Child("name"), "the container "+c.Name+" is the operator's: choose another name"))
		default:
			errs = append(errs, validateSidecar(c, at)...)
		}
	}
	return errs
}

// validateSidecar: a container of the user's may not see passwords and keys of the instance, nor write to its files.
func validateSidecar(c *corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.Image == "" {
		errs = append(errs, field.Required(at.Child("image"), "a container that is added needs an image; the operator's are called mysql and install"))
	}
	for i, m := range c.VolumeMounts {
		if slices.Contains(operatorVolumes(), m.Name) {
			errs = append(errs, field.Forbidden(at.Child("volumeMounts").Index(i).Child("name"), messageSidecarVolume))
		}
	}
	for i, d := range c.VolumeDevices {
		if slices.Contains(operatorVolumes(), d.Name) {
			errs = append(errs, field.Forbidden(at.Child("volumeDevices").Index(i).Child("name"), messageSidecarVolume))
		}
	}
	return errs
}

// validateMySQLContainer: what the manager runs, how it is asked for its health, and where its files are is fixed.
func validateMySQLContainer(c *corev1.Container, at *field.Path) field.ErrorList {
	const (
		process = messageOperatorPart + ": the container runs the instance manager, which runs mysqld"
		health  = messageOperatorPart + ": a probe must never kill a mysqld that recovers or is cloned"
	)
	var errs field.ErrorList
	for _, f := range []ownedField{
		{"image", c.Image != "", "use spec.version or spec.image"},
		{"command", len(c.Command) > 0, process},
		{"args", len(c.Args) > 0, process},
		{"workingDir", c.WorkingDir != "", process},
		{"lifecycle", c.Lifecycle != nil, process},
		{"restartPolicy", c.RestartPolicy != nil, process},
		{"ports", len(c.Ports) > 0, messageOperatorPart + ": Services and certificates are made for its ports"},
		{"resources", len(c.Resources.Limits)+len(c.Resources.Requests)+len(c.Resources.Claims) > 0, "use spec.resources: the sizes of mysqld follow from it"},
		{"livenessProbe", c.LivenessProbe != nil, health},
		{"readinessProbe", c.ReadinessProbe != nil, health},
		{"startupProbe", c.StartupProbe != nil, health},
	} {
		if f.set {
			errs = append(errs, field.Forbidden(at.Child(f.name), f.message))
		}
	}
	return slices.Concat(errs, validateEnv(c.Env, at.Child("env")), validateMounts(c.VolumeMounts, at.Child("volumeMounts")),
		validateSecurity(c.SecurityContext, at.Child("securityContext")))
}

func validateEnv(env []corev1.EnvVar, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, e := range env {
		if strings.HasPrefix(e.Name, "KEELSON_") {
			errs = append(errs, field.Forbidden(at.Index(i).Child("name"), "names that begin with KEELSON_ are the operator's"))
		}
	}
	return errs
}

// validateMounts refuses what would hide the operator's files. /tmp is writable: something may be mounted below it.
func validateMounts(mounts []corev1.VolumeMount, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, m := range mounts {
		clean := path.Clean("/" + m.MountPath)
		if slices.ContainsFunc(operatorPaths(), func(own string) bool { return covers(clean, own) || own != naming.PathTmp && covers(own, clean) }) {
			errs = append(errs, field.Forbidden(at.Index(i).Child("mountPath"), "it would hide files of the operator: choose another path"))
		}
	}
	return errs
}

func operatorPaths() []string {
	return []string{
		naming.PathData, naming.PathRun, naming.PathBin, naming.PathTmp, naming.PathConfig, naming.PathInternal, naming.PathApp, naming.PathTLS,
	}
}

// covers tells whether other is folder, or lies in it.
func covers(folder, other string) bool {
	return folder == "/" || other == folder || strings.HasPrefix(other, folder+"/")
}

// validateSecurity refuses what would undo the restricted profile: it would be merged over the operator's own settings.
func validateSecurity(s *corev1.SecurityContext, at *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	var errs field.ErrorList
	if s.RunAsUser != nil && *s.RunAsUser == 0 {
		errs = append(errs, field.Invalid(at.Child("runAsUser"), 0, messageRoot))
	}
	for _, f := range []ownedField{
		{"privileged", ptr.Deref(s.Privileged, false), messageRestricted},
		{"allowPrivilegeEscalation", ptr.Deref(s.AllowPrivilegeEscalation, false), messageRestricted},
		{"readOnlyRootFilesystem", !ptr.Deref(s.ReadOnlyRootFilesystem, true), messageRestricted},
		{"runAsNonRoot", !ptr.Deref(s.RunAsNonRoot, true), messageRestricted},
		{"capabilities", s.Capabilities != nil, messageRestricted},
		{"procMount", s.ProcMount != nil, messageRestricted},
		{"seccompProfile", isUnconfined(s.SeccompProfile), messageRestricted},
	} {
		if f.set {
			errs = append(errs, field.Forbidden(at.Child(f.name), f.message))
		}
	}
	return errs
}

func isUnconfined(p *corev1.SeccompProfile) bool {
	return p != nil && p.Type == corev1.SeccompProfileTypeUnconfined
}
