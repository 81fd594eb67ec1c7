// SPDX-License-Identifier: Apache-2.0

// Package pki is the certificates of one cluster: its authority, what the authority issues, and the TLS configurations
// that trust nothing else.
//
// Who a peer is, its certificate says in one URI SAN, keelson://<namespace>/<cluster>/<role>[/<instance>]. DNS names are
// not asked: a name can point to another pod's address for a moment, an identity cannot. DNS names are in the
// certificates for the applications, which know MySQL by the names of its Services.
//
// Time is a parameter everywhere. Certificates are replaced while servers and clients run: they take them from a Source
// at each handshake.
package pki
