// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
)

// obstacle is why a pod cannot do its work, in the words of the kubelet or the scheduler. The zero value is none.
type obstacle struct {
	reason mysqlv1.Reason
	text   string
}

// findObstacle looks at what Kubernetes says of a pod.
func findObstacle(pod *corev1.Pod) obstacle {
	if pod == nil {
		return obstacle{}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return obstacle{mysqlv1.ReasonPodUnschedulable, c.Message}
		}
	}
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if o := containerObstacle(c); o.text != "" {
			return o
		}
	}
	return obstacle{}
}

func containerObstacle(c corev1.ContainerStatus) obstacle {
	waiting := c.State.Waiting
	if waiting == nil {
		return obstacle{}
	}
	switch waiting.Reason {
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable", "ImageInspectError":
		return obstacle{mysqlv1.ReasonImagePullFailed, sentence(c.Name, waiting.Reason, waiting.Message)}
	case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
		return obstacle{mysqlv1.ReasonContainerFailing, sentence(c.Name, waiting.Reason, waiting.Message)}
	case "CrashLoopBackOff":
		// The message of the wait itself holds a growing delay; how the container ended says more, and stays.
		return obstacle{mysqlv1.ReasonContainerFailing, sentence(c.Name, waiting.Reason, ending(c.LastTerminationState.Terminated))}
	}
	return obstacle{}
}

func ending(t *corev1.ContainerStateTerminated) string {
	if t == nil {
		return ""
	}
	text := fmt.Sprintf("ended with exit code %d (%s)", t.ExitCode, t.Reason)
	if t.Message != "" {
		text += ": " + t.Message
	}
	return text
}

func sentence(container, reason, message string) string {
	text := fmt.Sprintf("container %s: %s", container, reason)
	if message != "" {
		text += ": " + message
	}
	return text
}
