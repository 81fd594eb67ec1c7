// SPDX-License-Identifier: Apache-2.0

package events

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
)

// Event is one thing that happened. It is collected once it has, so that no event tells of what did not happen.
type Event struct {
	Type   string // corev1.EventTypeNormal or Warning
	Reason mysqlv1.Reason
	Action string // what the operator did, in one word
	Note   string
}

// Reasons of events that are no reasons of conditions.
const (
	ReasonPrimaryChanged      mysqlv1.Reason = "PrimaryChanged"
	ReasonBootstrapping       mysqlv1.Reason = "Bootstrapping"
	ReasonBootstrapped        mysqlv1.Reason = "Bootstrapped"
	ReasonOpened              mysqlv1.Reason = "Opened"
	ReasonJoinedInSync        mysqlv1.Reason = "JoinedInSync"
	ReasonLeftInSync          mysqlv1.Reason = "LeftInSync"
	ReasonPodReplaced         mysqlv1.Reason = "PodReplaced"
	ReasonSecretRegenerated   mysqlv1.Reason = "SecretRegenerated"
	ReasonCertificatesRenewed mysqlv1.Reason = "CertificatesRenewed"
	ReasonOrderRefused        mysqlv1.Reason = "OrderRefused"
)

func normal(reason mysqlv1.Reason, action, format string, args ...any) Event {
	return Event{Type: corev1.EventTypeNormal, Reason: reason, Action: action, Note: fmt.Sprintf(format, args...)}
}

func warning(reason mysqlv1.Reason, action, format string, args ...any) Event {
	return Event{Type: corev1.EventTypeWarning, Reason: reason, Action: action, Note: fmt.Sprintf(format, args...)}
}

// PrimaryChanged tells that the primary of record is another one.
func PrimaryChanged(from, to string, because []string) Event {
	if from == "" {
		return normal(ReasonPrimaryChanged, "Elect", "Primary is %s%s", to, facts(because))
	}
	return normal(ReasonPrimaryChanged, "Elect", "Primary was %s and is %s now%s", from, to, facts(because))
}

// Bootstrapping tells that the first instance was chosen to make the first data.
func Bootstrapping(instance string) Event {
	return normal(ReasonBootstrapping, "Bootstrap", "Making the first data on %s", instance)
}

// Bootstrapped tells that data exists: from here on nothing is initialised from scratch again.
func Bootstrapped(instance string) Event {
	return normal(ReasonBootstrapped, "Bootstrap", "%s has the cluster's first data", instance)
}

// Opened tells that the primary was let open for the first time in this epoch.
func Opened(primary string) Event {
	return normal(ReasonOpened, "Open", "%s accepts writes", primary)
}

// InSyncChanged tells who joined and who left the in-sync set.
func InSyncChanged(joined, left []string) []Event {
	var out []Event
	for _, name := range slices.Sorted(slices.Values(joined)) {
		out = append(out, normal(ReasonJoinedInSync, "Grow", "%s holds every acknowledged write from now on", name))
	}
	for _, name := range slices.Sorted(slices.Values(left)) {
		out = append(out, warning(ReasonLeftInSync, "Shrink", "%s is no longer in sync", name))
	}
	return out
}

// PodReplaced tells that a pod that was never Ready was deleted, so that it starts with the present template.
func PodReplaced(pod, obstacle string) Event {
	why := ""
	if obstacle != "" {
		why = ": " + obstacle
	}
	return normal(ReasonPodReplaced, "ReplacePod", "Pod %s was never Ready and has an older template; starting it anew%s", pod, why)
}

// SecretRegenerated tells that a Secret that was lost has new content.
func SecretRegenerated(name string) Event {
	return warning(ReasonSecretRegenerated, "Regenerate",
		"Secret %s was lost and has new content; instances take it when they start", name)
}

// CertificatesRenewed tells for which instances certificates were issued.
func CertificatesRenewed(instances []string) Event {
	return normal(ReasonCertificatesRenewed, "IssueCertificates", "Issued certificates of %s", strings.Join(instances, ", "))
}

// OrderRefused tells that an instance refused an order.
func OrderRefused(instance, kind string, err error) Event {
	return warning(ReasonOrderRefused, "Order", "%s refused %s: %v", instance, kind, err)
}

// ConditionFalse tells that a condition became False, or False for another reason.
func ConditionFalse(condition mysqlv1.ConditionType, reason mysqlv1.Reason, message string) Event {
	return warning(reason, "Observe", "Not %s: %s", condition, message)
}

// ConditionUnknown tells that nobody can tell any more how a condition is.
func ConditionUnknown(condition mysqlv1.ConditionType, reason mysqlv1.Reason, message string) Event {
	return warning(reason, "Observe", "Cannot tell whether %s: %s", condition, message)
}

// ConditionTrue tells that a condition is True again.
func ConditionTrue(condition mysqlv1.ConditionType, reason mysqlv1.Reason, message string) Event {
	return normal(reason, "Observe", "%s again: %s", condition, message)
}

func facts(because []string) string {
	if len(because) == 0 {
		return ""
	}
	return ": " + strings.Join(because, "; ")
}
