// SPDX-License-Identifier: Apache-2.0

// Package host is what the cluster changes on the machine outside of its own namespaces, and how it is changed back:
// cgroups, kernel settings that a kubelet changes, folders to mount on, loop devices. It also says what an unsuitable
// machine lacks.
package host
