// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

const (
	// userID is the UID and GID of mysql in the official images.
	userID = 999
	// gracePeriod is how long an instance may take to stop: a replica waits to be dropped from the in-sync set, and
	// mysqld flushes what is dirty in its buffer pool.
	gracePeriod = 300
	// runSize bounds the memory volume of socket, my.cnf, init file and TLS copies, which counts as the container's
	// memory.
	runSize = "16Mi"
	// binSize bounds the copy of the manager binary.
	binSize = "256Mi"
)

// podSpec returns the pods' spec with the user's overrides merged in.
func podSpec(in Input) (*corev1ac.PodSpecApplyConfiguration, error) {
	affinity, err := podAffinity(in.Cluster)
	if err != nil {
		return nil, err
	}
	spec := corev1ac.PodSpec().
		WithServiceAccountName(naming.ServiceAccount(in.Cluster.Name)).
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithTerminationGracePeriodSeconds(gracePeriod).
		WithSecurityContext(podSecurity(in.Platform)).
		WithAffinity(affinity).
		WithVolumes(volumes(in.Cluster)...)
	if err := addContainers(in, spec); err != nil {
		return nil, err
	}
	if err := addPlacement(in.Cluster, spec); err != nil {
		return nil, err
	}
	for _, ref := range in.Cluster.Spec.ImagePullSecrets {
		spec.WithImagePullSecrets(corev1ac.LocalObjectReference().WithName(ref.Name))
	}
	return mergeTemplate(in.Cluster, spec)
}

// podSecurity satisfies the restricted Pod Security Standard. OnRootMismatch: changing the owner of every file of a
// large volume at each start takes minutes.
func podSecurity(platform Platform) *corev1ac.PodSecurityContextApplyConfiguration {
	security := corev1ac.PodSecurityContext().
		WithRunAsNonRoot(true).
		WithFSGroupChangePolicy(corev1.FSGroupChangeOnRootMismatch).
		WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))
	if platform.AssignsUsers {
		return security
	}
	return security.WithRunAsUser(userID).WithRunAsGroup(userID).WithFSGroup(userID)
}

func containerSecurity() *corev1ac.SecurityContextApplyConfiguration {
	return corev1ac.SecurityContext().
		WithAllowPrivilegeEscalation(false).
		WithReadOnlyRootFilesystem(true).
		WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))
}

// addContainers adds the init container, which brings the manager binary and freezes the settings this pod runs
// with, and the container mysql. Both ask for the same resources: a pod needs the larger of the two, so that costs
// nothing, and it keeps the quality of service and any quota as the user meant them.
func addContainers(in Input, spec *corev1ac.PodSpecApplyConfiguration) error {
	resources, err := convert[corev1ac.ResourceRequirementsApplyConfiguration](in.Cluster.Spec.Resources)
	if err != nil {
		return err
	}
	install := corev1ac.Container().
		WithName(naming.ContainerInstall).
		WithImage(in.Platform.OperatorImage).
		WithCommand("/"+naming.BinaryName, "install").
		WithSecurityContext(containerSecurity()).
		WithResources(resources).
		WithVolumeMounts(
			mount(naming.VolumeBin, naming.PathBin),
			mount(naming.VolumeRun, naming.PathRun),
			mount(naming.VolumeConfig, naming.PathConfig).WithReadOnly(true),
		)
	mysql := corev1ac.Container().
		WithName(naming.ContainerMySQL).
		WithImage(in.Image()).
		WithCommand(naming.PathBin+"/"+naming.BinaryName, "instance").
		WithEnv(environment(in.Cluster)...).
		WithPorts(
			containerPort(naming.PortNameMySQL, naming.PortMySQL),
			containerPort(naming.PortNameManager, naming.PortManager),
			containerPort(naming.PortNameProbes, naming.PortProbes),
			containerPort(naming.PortNameMetrics, naming.PortMetrics),
		).
		WithSecurityContext(containerSecurity()).
		WithResources(resources).
		WithVolumeMounts(mounts()...)
	addProbes(mysql)
	spec.WithInitContainers(install).WithContainers(mysql)
	return nil
}

func containerPort(name string, port int32) *corev1ac.ContainerPortApplyConfiguration {
	return corev1ac.ContainerPort().WithName(name).WithContainerPort(port).WithProtocol(corev1.ProtocolTCP)
}

// environment tells the manager who it is. Without a memory limit or request the manager gets "0" and takes small
// defaults: the downward API would give the whole node's memory, and three instances on a node would not fit.
func environment(cluster *mysqlv1.MySQLCluster) []*corev1ac.EnvVarApplyConfiguration {
	memory := corev1ac.EnvVar().WithName(naming.EnvMemoryLimit).WithValue("0")
	if from := memorySource(cluster.Spec.Resources); from != "" {
		memory = corev1ac.EnvVar().WithName(naming.EnvMemoryLimit).
			WithValueFrom(corev1ac.EnvVarSource().WithResourceFieldRef(corev1ac.ResourceFieldSelector().
				WithContainerName(naming.ContainerMySQL).
				WithResource(from).
				WithDivisor(resource.MustParse("1"))))
	}
	return []*corev1ac.EnvVarApplyConfiguration{
		fieldEnv(naming.EnvNamespace, "metadata.namespace"),
		fieldEnv(naming.EnvInstance, "metadata.name"),
		corev1ac.EnvVar().WithName(naming.EnvCluster).WithValue(cluster.Name),
		memory,
	}
}

func memorySource(resources corev1.ResourceRequirements) string {
	if _, ok := resources.Limits[corev1.ResourceMemory]; ok {
		return "limits.memory"
	}
	if _, ok := resources.Requests[corev1.ResourceMemory]; ok {
		return "requests.memory"
	}
	return ""
}

func fieldEnv(name, path string) *corev1ac.EnvVarApplyConfiguration {
	return corev1ac.EnvVar().WithName(name).WithValueFrom(corev1ac.EnvVarSource().
		WithFieldRef(corev1ac.ObjectFieldSelector().WithAPIVersion("v1").WithFieldPath(path)))
}
