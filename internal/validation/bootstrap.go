// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
)

// Longest names that MySQL takes.
const (
	maxDatabase = 64
	maxAccount  = 32
)

func validateBootstrap(b *mysqlv1.BootstrapSpec, path *field.Path) field.ErrorList {
	if b == nil || b.InitDB == nil {
		return nil
	}
	var errs field.ErrorList
	if database := b.InitDB.Database; database != "" {
		path := path.Child("initdb", "database")
		errs = append(errs, validateIdentifier(database, maxDatabase, path)...)
		if slices.Contains(systemSchemas(), database) {
			errs = append(errs, field.Invalid(path, database, messageDatabase))
		}
	}
	if owner := b.InitDB.Owner; owner != "" {
		path := path.Child("initdb", "owner")
		errs = append(errs, validateIdentifier(owner, maxAccount, path)...)
		if owner == "root" || strings.HasPrefix(owner, "keelson") || strings.HasPrefix(owner, "mysql") {
			errs = append(errs, field.Invalid(path, owner, messageOwner))
		}
	}
	return errs
}

func systemSchemas() []string {
	return []string{"mysql", "sys", "information_schema", "performance_schema"}
}

func validateIdentifier(name string, longest int, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(name) > longest {
		errs = append(errs, field.TooLong(path, name, longest))
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if !consistsOf(name[:1], letters) || !consistsOf(name, letters+digits+"_") {
		errs = append(errs, field.Invalid(path, name, messageIdentifier))
	}
	return errs
}
