// SPDX-License-Identifier: Apache-2.0

// Package naming holds every name the operator gives to something: objects, labels, annotations, ports, paths,
// accounts, identities, field owners and log keys. One word for one thing; nothing else in the tree spells them.
package naming
