// SPDX-License-Identifier: Apache-2.0

package kube

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"
)

// StatefulSets is the kind StatefulSet.
func StatefulSets() Kind[*appsv1.StatefulSet, *appsv1ac.StatefulSetApplyConfiguration] {
	return Kind[*appsv1.StatefulSet, *appsv1ac.StatefulSetApplyConfiguration]{
		New: func() *appsv1.StatefulSet { return &appsv1.StatefulSet{} }, Extract: appsv1ac.ExtractStatefulSet,
	}
}

// Services is the kind Service.
func Services() Kind[*corev1.Service, *corev1ac.ServiceApplyConfiguration] {
	return Kind[*corev1.Service, *corev1ac.ServiceApplyConfiguration]{
		New: func() *corev1.Service { return &corev1.Service{} }, Extract: corev1ac.ExtractService,
	}
}

// ConfigMaps is the kind ConfigMap.
func ConfigMaps() Kind[*corev1.ConfigMap, *corev1ac.ConfigMapApplyConfiguration] {
	return Kind[*corev1.ConfigMap, *corev1ac.ConfigMapApplyConfiguration]{
		New: func() *corev1.ConfigMap { return &corev1.ConfigMap{} }, Extract: corev1ac.ExtractConfigMap,
	}
}

// Secrets is the kind Secret.
func Secrets() Kind[*corev1.Secret, *corev1ac.SecretApplyConfiguration] {
	return Kind[*corev1.Secret, *corev1ac.SecretApplyConfiguration]{
		New: func() *corev1.Secret { return &corev1.Secret{} }, Extract: corev1ac.ExtractSecret,
	}
}

// ServiceAccounts is the kind ServiceAccount.
func ServiceAccounts() Kind[*corev1.ServiceAccount, *corev1ac.ServiceAccountApplyConfiguration] {
	return Kind[*corev1.ServiceAccount, *corev1ac.ServiceAccountApplyConfiguration]{
		New: func() *corev1.ServiceAccount { return &corev1.ServiceAccount{} }, Extract: corev1ac.ExtractServiceAccount,
	}
}

// Pods is the kind Pod.
func Pods() Kind[*corev1.Pod, *corev1ac.PodApplyConfiguration] {
	return Kind[*corev1.Pod, *corev1ac.PodApplyConfiguration]{
		New: func() *corev1.Pod { return &corev1.Pod{} }, Extract: corev1ac.ExtractPod,
	}
}

// PodDisruptionBudgets is the kind PodDisruptionBudget.
func PodDisruptionBudgets() Kind[*policyv1.PodDisruptionBudget, *policyv1ac.PodDisruptionBudgetApplyConfiguration] {
	return Kind[*policyv1.PodDisruptionBudget, *policyv1ac.PodDisruptionBudgetApplyConfiguration]{
		New:     func() *policyv1.PodDisruptionBudget { return &policyv1.PodDisruptionBudget{} },
		Extract: policyv1ac.ExtractPodDisruptionBudget,
	}
}

// NetworkPolicies is the kind NetworkPolicy.
func NetworkPolicies() Kind[*networkingv1.NetworkPolicy, *networkingv1ac.NetworkPolicyApplyConfiguration] {
	return Kind[*networkingv1.NetworkPolicy, *networkingv1ac.NetworkPolicyApplyConfiguration]{
		New:     func() *networkingv1.NetworkPolicy { return &networkingv1.NetworkPolicy{} },
		Extract: networkingv1ac.ExtractNetworkPolicy,
	}
}
