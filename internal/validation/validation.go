// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/mycnf"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// ValidateCreate returns what is wrong with a cluster by itself.
func ValidateCreate(c *mysqlv1.MySQLCluster) field.ErrorList {
	spec := field.NewPath("spec")
	return slices.Concat(
		validateName(c.Name),
		validateVersion(&c.Spec, spec),
		validateReplicas(&c.Spec, spec),
		validateStorage(&c.Spec.Storage, spec.Child("storage")),
		validateResources(&c.Spec.Resources, spec.Child("resources")),
		validateConfig(c.Spec.MySQL.Config, spec.Child("mysql", "config")),
		validateBootstrap(c.Spec.Bootstrap, spec.Child("bootstrap")),
		validatePullSecrets(&c.Spec, spec.Child("imagePullSecrets")),
		validatePodTemplate(c.Spec.PodTemplate, spec.Child("podTemplate")),
		validatePolicy(c.Spec.DeletionPolicy, spec.Child("deletionPolicy")),
	)
}

// ValidateUpdate returns what is wrong with a cluster that replaces old. An unchanged spec is never refused: an object
// that is older than a rule must be able to lose its finalizer.
func ValidateUpdate(old, updated *mysqlv1.MySQLCluster) field.ErrorList {
	if equality.Semantic.DeepEqual(old.Spec, updated.Spec) {
		return nil
	}
	return slices.Concat(ValidateCreate(updated), validateTransition(&old.Spec, &updated.Spec, field.NewPath("spec")))
}

func validateName(name string) field.ErrorList {
	path := field.NewPath("metadata", "name")
	var errs field.ErrorList
	if len(name) > naming.MaxClusterName {
		errs = append(errs, field.Invalid(path, name, messageNameLength))
	}
	if !isLabel(name) {
		errs = append(errs, field.Invalid(path, name, messageName))
	}
	return errs
}

// isLabel: ^[a-z]([-a-z0-9]*[a-z0-9])?$.
func isLabel(name string) bool {
	if name == "" || name[0] < 'a' || name[0] > 'z' || name[len(name)-1] == '-' {
		return false
	}
	return consistsOf(name, "abcdefghijklmnopqrstuvwxyz0123456789-")
}

func validateReplicas(s *mysqlv1.MySQLClusterSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	replicas := replicasOf(s)
	if replicas < 1 || replicas > 9 {
		errs = append(errs, field.Invalid(path.Child("replicas"), replicas, messageCount))
	}
	if least := s.Replication.MinInSync; least != nil {
		path := path.Child("replication", "minInSync")
		switch {
		case *least < 1 || *least > 9:
			errs = append(errs, field.Invalid(path, *least, messageCount))
		case *least > replicas:
			errs = append(errs, field.Invalid(path, *least, messageMinInSync))
		}
	}
	return errs
}

// replicasOf resolves the default of the CRD.
func replicasOf(s *mysqlv1.MySQLClusterSpec) int32 {
	if s.Replicas == nil {
		return mysqlv1.DefaultReplicas
	}
	return *s.Replicas
}

func validateStorage(s *mysqlv1.StorageSpec, path *field.Path) field.ErrorList {
	if s.Size.Sign() <= 0 {
		return field.ErrorList{field.Invalid(path.Child("size"), s.Size.String(), messageStorageZero)}
	}
	return nil
}

func validateConfig(config map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(config) > 128 {
		errs = append(errs, field.Invalid(path, len(config), messageConfigCount))
	}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		path := path.Key(key)
		switch {
		case mycnf.Owned(key):
			errs = append(errs, field.Invalid(path, config[key], mycnf.MessageOwned))
		case !mycnf.ValidKey(key):
			errs = append(errs, field.Invalid(path, config[key], messageConfigKey))
		case !mycnf.ValidValue(config[key]):
			errs = append(errs, field.Invalid(path, config[key], messageConfigValue))
		}
	}
	return errs
}

func validatePullSecrets(s *mysqlv1.MySQLClusterSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, secret := range s.ImagePullSecrets {
		if secret.Name == "" {
			errs = append(errs, field.Required(path.Index(i).Child("name"), messagePullSecret))
		}
	}
	return errs
}

func validatePolicy(policy mysqlv1.DeletionPolicy, path *field.Path) field.ErrorList {
	switch policy {
	case "", mysqlv1.DeletionRetain, mysqlv1.DeletionDelete:
		return nil
	}
	return field.ErrorList{field.Invalid(path, policy, messagePolicy)}
}
