// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/events"
	"github.com/keelson-dev/mysql-operator/internal/kube"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/pki"
	"github.com/keelson-dev/mysql-operator/internal/resources"
)

// authority is a cluster's certificate authority, and the bundle that everybody trusts: it holds an earlier
// authority too, so that instances which have not taken new certificates yet are still understood.
type authority struct {
	ca     pki.CA
	bundle []byte
}

func (a authority) isKnown() bool { return len(a.bundle) > 0 }

// certificateState is what the condition CertificatesValid says; the zero value is all well.
type certificateState struct {
	reason  mysqlv1.Reason
	message string
}

// reconcileCertificates keeps the authority, made once, and a certificate for every instance, issued again in time.
func (r *Reconciler) reconcileCertificates(ctx context.Context, s *scope) kube.Outcome {
	ca, out := r.keepAuthority(ctx, s)
	if out.Name() != kube.Done().Name() {
		return out
	}
	live, err := r.findSecret(ctx, s, naming.SecretTLS(s.cluster.Name))
	if err != nil {
		return kube.Retry(err)
	}
	bundle, err := bundleOf(s, ca, live)
	if err != nil {
		return kube.Retry(err)
	}
	s.secrets.authority = authority{ca: ca, bundle: bundle}
	data, issued, err := issueAll(s, live)
	if err != nil {
		return kube.Retry(err)
	}
	want := resources.OwnedSecret(s.in, naming.SecretTLS(s.cluster.Name), data)
	if _, _, err = kube.Apply(ctx, r.Client, naming.OwnerCluster, kube.Secrets(), want); err != nil {
		s.found.certificates = certificateState{mysqlv1.ReasonExpiring, "certificates could not be stored: " + err.Error()}
		return kube.Retry(err)
	}
	if len(issued) > 0 {
		s.found.events = append(s.found.events, events.CertificatesRenewed(issued))
	}
	return kube.Done()
}

// issueAll returns the content of the Secret: what is still good in it, and new certificates for the rest.
func issueAll(s *scope, live *corev1.Secret) (data map[string][]byte, issued []string, err error) {
	data = map[string][]byte{naming.KeyCACert: s.secrets.authority.bundle}
	for _, name := range s.names() {
		pair := pki.Pair{CertPEM: live.Data[naming.CertKey(name)], KeyPEM: live.Data[naming.PrivateKey(name)]}
		request := pki.InstanceRequest(s.cluster.Namespace, s.cluster.Name, name)
		if s.secrets.authority.ca.Stale(pair, request, s.now) != "" {
			if pair, err = s.secrets.authority.ca.Issue(request, s.now); err != nil {
				return nil, nil, fmt.Errorf("issue certificate of %s: %w", name, err)
			}
			issued = append(issued, name)
		}
		data[naming.CertKey(name)], data[naming.PrivateKey(name)] = pair.CertPEM, pair.KeyPEM
	}
	return data, issued, nil
}

// bundleOf returns what is trusted: the authority, and the one before it for as long as it is valid.
func bundleOf(s *scope, ca pki.CA, live *corev1.Secret) ([]byte, error) {
	own := ca.CertPEM()
	before := live.Data[naming.KeyCACert]
	if _, err := pki.ParseRoots(before); err != nil {
		before = own // absent, or edited into something that is none
	}
	bundle, err := pki.Bundle(s.now, own, before)
	if err != nil {
		return nil, fmt.Errorf("join authorities: %w", err)
	}
	return bundle, nil
}

// keepAuthority returns the cluster's authority, and makes it if there is none.
func (r *Reconciler) keepAuthority(ctx context.Context, s *scope) (pki.CA, kube.Outcome) {
	name := naming.SecretCA(s.cluster.Name)
	live, err := r.findSecret(ctx, s, name)
	if err != nil {
		return pki.CA{}, kube.Retry(err)
	}
	if live.Name == "" {
		live, err = r.makeAuthority(ctx, s, name)
		if err != nil {
			return pki.CA{}, kube.Retry(err)
		}
	}
	ca, err := pki.ParseCA(live.Data[naming.KeyCACert], live.Data[naming.KeyCAKey])
	if err != nil {
		err = fmt.Errorf("read Secret %s: %w; delete it and a new authority is made", name, err)
		s.found.certificates = certificateState{mysqlv1.ReasonCertificateInvalid, err.Error()}
		return pki.CA{}, kube.Stop(err, mysqlv1.ReasonCertificateInvalid)
	}
	if pki.NeedsRenewal(ca.Certificate(), s.now) {
		s.found.certificates = certificateState{mysqlv1.ReasonExpiring, fmt.Sprintf(
			"the authority in Secret %s ends on %s; delete the Secret and a new one is made, which instances take within minutes",
			name, ca.Certificate().NotAfter.Format("2006-01-02"))}
	}
	want := resources.OwnedSecret(s.in, name, map[string][]byte{
		naming.KeyCACert: live.Data[naming.KeyCACert], naming.KeyCAKey: live.Data[naming.KeyCAKey],
	})
	_, _, err = kube.Apply(ctx, r.Client, naming.OwnerCluster, kube.Secrets(), want)
	return ca, kube.From(err)
}

func (r *Reconciler) makeAuthority(ctx context.Context, s *scope, name string) (*corev1.Secret, error) {
	ca, err := pki.NewCA(s.now)
	if err != nil {
		return nil, fmt.Errorf("make authority: %w", err)
	}
	key, err := ca.KeyPEM()
	if err != nil {
		return nil, fmt.Errorf("write authority: %w", err)
	}
	data := map[string][]byte{naming.KeyCACert: ca.CertPEM(), naming.KeyCAKey: key}
	if err := r.createSecret(ctx, s, name, data); err != nil {
		return nil, err
	}
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}, nil
}

// findAuthority reads the authority without writing anything, for a cluster whose objects are left alone.
func (r *Reconciler) findAuthority(ctx context.Context, s *scope) kube.Outcome {
	live, err := r.findSecret(ctx, s, naming.SecretCA(s.cluster.Name))
	if err != nil || live.Name == "" {
		return kube.From(err)
	}
	ca, err := pki.ParseCA(live.Data[naming.KeyCACert], live.Data[naming.KeyCAKey])
	if err != nil {
		s.found.certificates = certificateState{mysqlv1.ReasonCertificateInvalid, err.Error()}
		return kube.Done()
	}
	trusted, err := r.findSecret(ctx, s, naming.SecretTLS(s.cluster.Name))
	if err != nil {
		return kube.Retry(err)
	}
	bundle, err := bundleOf(s, ca, trusted)
	if err != nil {
		return kube.Retry(err)
	}
	s.secrets.authority = authority{ca: ca, bundle: bundle}
	internal, err := r.findSecret(ctx, s, naming.SecretInternal(s.cluster.Name))
	if err != nil {
		return kube.Retry(err)
	}
	s.secrets.replicationKey = internal.Data[naming.KeyReplicationKey]
	return kube.Done()
}
