// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// minMemory is from a measurement: mysqld 9.7.4 has 376 MiB resident when it idles with the smallest pool that is
// rendered; the manager and a few connections need the rest.
func minMemory() resource.Quantity { return resource.MustParse("512Mi") }

func validateResources(r *corev1.ResourceRequirements, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validateQuantities(r.Limits, path.Child("limits")),
		validateQuantities(r.Requests, path.Child("requests")),
	)
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		request := r.Requests[name]
		if limit, ok := r.Limits[name]; ok && request.Cmp(limit) > 0 {
			errs = append(errs, field.Invalid(path.Child("requests").Key(string(name)), request.String(), messageAboveLimit))
		}
	}
	if memory, ok := r.Limits[corev1.ResourceMemory]; ok && memory.Sign() >= 0 && memory.Cmp(minMemory()) < 0 {
		errs = append(errs, field.Invalid(path.Child("limits").Key(string(corev1.ResourceMemory)), memory.String(), messageMemory))
	}
	return errs
}

func validateQuantities(list corev1.ResourceList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if quantity := list[name]; quantity.Sign() < 0 {
			errs = append(errs, field.Invalid(path.Key(string(name)), quantity.String(), messageNegative))
		}
	}
	return errs
}
