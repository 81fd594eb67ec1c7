// SPDX-License-Identifier: Apache-2.0

// Package packages installs the Debian packages of hack/debian-packages.txt that are missing, and only those.
package packages
