// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/pki"
)

// credentials are the operator's own client certificates, one for each cluster. They live in memory only: whoever has
// the authority's key can make them, and nobody else needs them.
type credentials struct {
	mu       sync.Mutex
	clusters map[types.NamespacedName]*credential
}

type credential struct {
	store   pki.Store
	version string // of the authority and bundle it was made with
	renewAt time.Time
}

// get returns the source of the operator's certificate for a cluster, and a text that tells one authority from
// another. It issues a new certificate when the authority changed or the old one has little time left.
func (c *credentials) get(name types.NamespacedName, a authority, now time.Time) (pki.Source, string, error) {
	sum := sha256.Sum256(append(a.ca.CertPEM(), a.bundle...))
	version := hex.EncodeToString(sum[:])
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clusters == nil {
		c.clusters = map[types.NamespacedName]*credential{}
	}
	have := c.clusters[name]
	if have == nil {
		have = &credential{}
		c.clusters[name] = have
	}
	if have.version == version && now.Before(have.renewAt) {
		return &have.store, version, nil
	}
	pair, err := a.ca.Issue(pki.ClientRequest(name.Namespace, name.Name, naming.IdentityOperator), now)
	if err != nil {
		return nil, "", fmt.Errorf("issue the operator's certificate: %w", err)
	}
	cert, err := pki.ParseCertificate(pair.CertPEM)
	if err != nil {
		return nil, "", fmt.Errorf("read the operator's certificate: %w", err)
	}
	if err := have.store.Set(pair, a.bundle); err != nil {
		return nil, "", fmt.Errorf("use the operator's certificate: %w", err)
	}
	have.version, have.renewAt = version, pki.RenewalTime(cert)
	return &have.store, version, nil
}

func (c *credentials) forget(name types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.clusters, name)
}

// track keeps the stream to the instance in a pod, by the pod's address: its name may lead to the pod before it.
func (r *Reconciler) track(s *scope, instance string, pod *corev1.Pod) error {
	if !s.secrets.authority.isKnown() {
		return nil
	}
	source, version, err := r.credentials.get(client.ObjectKeyFromObject(s.cluster), s.secrets.authority, s.now)
	if err != nil {
		return err
	}
	want := pki.Identity{Namespace: s.cluster.Namespace, Cluster: s.cluster.Name, Role: naming.IdentityInstance, Instance: instance}
	r.Instances.Track(r.key(s, instance), Target{
		PodUID:  pod.UID,
		Address: net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(naming.PortManager)),
		TLS:     pki.ClientTLS(source, pki.AcceptOnly(want), r.Clock.Now),
		Version: version,
	})
	return nil
}
