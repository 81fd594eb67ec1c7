// SPDX-License-Identifier: Apache-2.0

package validation

// Sentences that the CEL rules of api/v1 say too.
const (
	messageNameLength     = "the name of a MySQLCluster may have at most 40 characters: names of pods, volumes and Services are made from it"
	messageName           = "the name of a MySQLCluster must be a DNS label that begins with a letter (a-z, 0-9 and '-'): Services are named after it"
	messageNoVersion      = "set spec.version (for example 9.7.4, which means docker.io/library/mysql:9.7.4) or spec.image"
	messageMinInSync      = "replication.minInSync may not be greater than replicas: the primary would never open"
	messageImageEndOfLife = "MySQL 8.0 is at its end of life and not supported: use an image of series 8.4 or 9.7"
	messageStorageZero    = "storage size must be greater than zero, for example 10Gi"
	messageConfigKey      = "a key of mysql.config is the name of a MySQL system variable in lower case with underscores, at most 80 characters"
	messageConfigValue    = "a value of mysql.config is one line of at most 1024 characters"
	messageDatabase       = "database may not be one of MySQL's own schemas"
	messageOwner          = "owner may not be root nor begin with 'keelson' or 'mysql': those accounts are reserved"
	messageLabels         = "labels below mysql.keelson.dev/ and app.kubernetes.io/ belong to the operator"
	messageAnnotations    = "annotations below mysql.keelson.dev/ belong to the operator"

	messageSeriesChange    = "a living cluster stays within its MySQL series: changing between 8.4 and 9.7 is not supported yet; create a new cluster of that series and load a dump into it"
	messageBootstrapChange = "bootstrap describes how the cluster was made and cannot change afterwards; create databases and users with SQL"
	messageReplicasDown    = "replicas cannot be lowered yet: an instance would have to leave the in-sync set first; delete and re-create the cluster from a dump, or keep the instances"
	messageStorageShrink   = "storage size cannot shrink: a volume only grows; create a new cluster with the smaller size and load a dump into it"
	messageStorageClass    = "storageClassName of a living cluster cannot be changed yet; create a new cluster on the other class"
)

// Sentences that only this package says.
const (
	messageImageSeries   = "this series of MySQL is not supported: use an image of series 8.4 or 9.7"
	messageCount         = "must be between 1 and 9"
	messageConfigCount   = "mysql.config may have at most 128 keys"
	messageIdentifier    = "must begin with a letter and contain only letters, digits and '_'"
	messageMemory        = "mysqld and its manager need 512Mi of memory at least; it would be killed by the kernel under a lower limit"
	messageNegative      = "must not be negative"
	messageAboveLimit    = "must not be greater than the limit"
	messagePullSecret    = "name a Secret of the namespace"
	messagePolicy        = "must be Retain or Delete"
	messageBadPodSpec    = "must be a PodSpec without patch directives"
	messageNoName        = "every container and volume needs a name: it says what is merged with what"
	messageRoot          = "mysqld does not run as root: choose another user, or none"
	messageRestricted    = messageOperatorPart + ": instances keep to the restricted Pod Security Standard and a read-only root"
	messageSidecarVolume = messageOperatorPart + ": an added container has no part in the instance's files, passwords and keys; give it a volume of its own"
	messageOperatorPart  = "the operator owns it"
)
