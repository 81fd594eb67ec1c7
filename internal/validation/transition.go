// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
)

// validateTransition refuses changes that a living cluster cannot follow yet. Each sentence is a rule of the CRD, whose
// comment there names what replaces it.
func validateTransition(old, updated *mysqlv1.MySQLClusterSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if replicasOf(updated) < replicasOf(old) {
		errs = append(errs, field.Invalid(path.Child("replicas"), replicasOf(updated), messageReplicasDown))
	}
	if was, is := seriesOf(old), seriesOf(updated); was != "" && is != "" && was != is {
		errs = append(errs, field.Invalid(seriesPath(updated, path), is, messageSeriesChange))
	}
	if updated.Storage.Size.Cmp(old.Storage.Size) < 0 {
		errs = append(errs, field.Invalid(path.Child("storage", "size"), updated.Storage.Size.String(), messageStorageShrink))
	}
	if !equality.Semantic.DeepEqual(old.Storage.StorageClassName, updated.Storage.StorageClassName) {
		errs = append(errs, field.Forbidden(path.Child("storage", "storageClassName"), messageStorageClass))
	}
	if old.Bootstrap != nil && !equality.Semantic.DeepEqual(old.Bootstrap, updated.Bootstrap) {
		errs = append(errs, field.Forbidden(path.Child("bootstrap"), messageBootstrapChange))
	}
	return errs
}

func seriesPath(s *mysqlv1.MySQLClusterSpec, path *field.Path) *field.Path {
	if imageSeries(s.Image) != "" {
		return path.Child("image")
	}
	return path.Child("version")
}
