// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// volumes returns the pod's volumes; that of VolumeData comes from the claim template.
func volumes(cluster *mysqlv1.MySQLCluster) []*corev1ac.VolumeApplyConfiguration {
	name := cluster.Name
	return []*corev1ac.VolumeApplyConfiguration{
		emptyDir(naming.VolumeRun, corev1ac.EmptyDirVolumeSource().
			WithMedium(corev1.StorageMediumMemory).WithSizeLimit(resource.MustParse(runSize))),
		emptyDir(naming.VolumeBin, corev1ac.EmptyDirVolumeSource().WithSizeLimit(resource.MustParse(binSize))),
		emptyDir(naming.VolumeTmp, corev1ac.EmptyDirVolumeSource()),
		corev1ac.Volume().WithName(naming.VolumeConfig).
			WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(naming.ConfigMap(name)).WithDefaultMode(readable)),
		internalVolume(name),
		secretVolume(naming.VolumeApp, naming.SecretApp(name)),
		secretVolume(naming.VolumeTLS, naming.SecretTLS(name)),
	}
}

const (
	// readable is the mode of files anybody in the pod may read.
	readable = 0o444
	// secret files are readable by the pod's group (fsGroup), which every UID there has.
	groupReadable = 0o440
)

func emptyDir(name string, source *corev1ac.EmptyDirVolumeSourceApplyConfiguration) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(name).WithEmptyDir(source)
}

func secretVolume(name, secret string) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(name).
		WithSecret(corev1ac.SecretVolumeSource().WithSecretName(secret).WithDefaultMode(groupReadable))
}

// internalVolume has the passwords that instances log in with, and not the replication key: whoever has that one can
// make the password of any member, and acknowledge writes in its name.
func internalVolume(cluster string) *corev1ac.VolumeApplyConfiguration {
	volume := secretVolume(naming.VolumeInternal, naming.SecretInternal(cluster))
	for _, key := range []string{naming.KeyManagerPassword, naming.KeyClonePassword, naming.KeyCatchupPassword} {
		volume.Secret.WithItems(corev1ac.KeyToPath().WithKey(key).WithPath(key))
	}
	return volume
}

func mount(volume, path string) *corev1ac.VolumeMountApplyConfiguration {
	return corev1ac.VolumeMount().WithName(volume).WithMountPath(path)
}

// mounts are those of the container mysql. Secrets and settings are mounted as whole folders, never by subPath,
// which would not follow a renewed certificate.
func mounts() []*corev1ac.VolumeMountApplyConfiguration {
	return []*corev1ac.VolumeMountApplyConfiguration{
		mount(naming.VolumeData, naming.PathData),
		mount(naming.VolumeRun, naming.PathRun),
		mount(naming.VolumeTmp, naming.PathTmp),
		mount(naming.VolumeBin, naming.PathBin).WithReadOnly(true),
		mount(naming.VolumeConfig, naming.PathConfig).WithReadOnly(true),
		mount(naming.VolumeInternal, naming.PathInternal).WithReadOnly(true),
		mount(naming.VolumeApp, naming.PathApp).WithReadOnly(true),
		mount(naming.VolumeTLS, naming.PathTLS).WithReadOnly(true),
	}
}

// Probe periods in seconds. The manager answers them, and never says "dead" of a mysqld that recovers, clones or
// waits (I8); readiness is asked every two seconds because that is what a client waits for after a change.
const (
	startupPeriod   = 1
	startupFailures = 120
	livenessPeriod  = 10
	livenessFails   = 6
	readinessPeriod = 2
	readinessFails  = 2
	probeTimeout    = 3
)

func addProbes(container *corev1ac.ContainerApplyConfiguration) {
	container.
		WithStartupProbe(probe(naming.ProbeStartup).WithPeriodSeconds(startupPeriod).WithFailureThreshold(startupFailures)).
		WithLivenessProbe(probe(naming.ProbeLiveness).WithPeriodSeconds(livenessPeriod).WithFailureThreshold(livenessFails)).
		WithReadinessProbe(probe(naming.ProbeReadiness).WithPeriodSeconds(readinessPeriod).WithFailureThreshold(readinessFails))
}

func probe(path string) *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().
		WithTimeoutSeconds(probeTimeout).
		WithHTTPGet(corev1ac.HTTPGetAction().
			WithPath(path).
			WithPort(intstr.FromString(naming.PortNameProbes)).
			WithScheme(corev1.URISchemeHTTP))
}
