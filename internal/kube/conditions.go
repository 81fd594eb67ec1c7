// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
)

// maxSentence is where messages are cut: a person reads no more, and status stays small.
const maxSentence = 1024

// Condition is a condition before it becomes strings.
type Condition struct {
	Type    mysqlv1.ConditionType
	Status  metav1.ConditionStatus
	Reason  mysqlv1.Reason
	Message string
}

// SetCondition puts a condition into the list, which stays sorted by type. It is the only place where conditions
// become strings: it cuts the message, and keeps the transition time unless the status changed.
func SetCondition(list []metav1.Condition, condition Condition, generation int64, now time.Time) []metav1.Condition {
	next := metav1.Condition{
		Type:               string(condition.Type),
		Status:             condition.Status,
		ObservedGeneration: generation,
		LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
		Reason:             string(condition.Reason),
		Message:            Truncate(condition.Message, maxSentence),
	}
	list = slices.Clone(list)
	at := slices.IndexFunc(list, func(c metav1.Condition) bool { return c.Type == next.Type })
	if at < 0 {
		list = append(list, next)
	} else {
		if list[at].Status == next.Status {
			next.LastTransitionTime = list[at].LastTransitionTime
		}
		list[at] = next
	}
	slices.SortFunc(list, func(a, b metav1.Condition) int { return strings.Compare(a.Type, b.Type) })
	return list
}

// Truncate cuts text to at most limit bytes, at the end of a character, and shows that it was cut.
func Truncate(text string, limit int) string {
	const ellipsis = "…"
	if len(text) <= limit {
		return text
	}
	cut := max(limit-len(ellipsis), 0)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + ellipsis
}
