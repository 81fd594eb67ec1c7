// SPDX-License-Identifier: Apache-2.0

package mysqlcluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/keelson-dev/mysql-operator/internal/events"
	"github.com/keelson-dev/mysql-operator/internal/kube"
	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/resources"
)

// reconcileSecrets keeps the passwords: made once, and made again only when they are lost. The instances set their
// accounts to what the Secrets say at each start of mysqld.
func (r *Reconciler) reconcileSecrets(ctx context.Context, s *scope) kube.Outcome {
	return kube.From(errors.Join(r.keepInternal(ctx, s), r.keepApp(ctx, s)))
}

func (r *Reconciler) keepInternal(ctx context.Context, s *scope) error {
	keys := []string{naming.KeyManagerPassword, naming.KeyClonePassword, naming.KeyCatchupPassword, naming.KeyReplicationKey}
	data, err := r.keepSecret(ctx, s, naming.SecretInternal(s.cluster.Name), keys, func(kept map[string][]byte) *corev1ac.SecretApplyConfiguration {
		return resources.KeptSecret(s.in, naming.SecretInternal(s.cluster.Name), kept)
	})
	if err != nil {
		return err
	}
	s.secrets.replicationKey = data[naming.KeyReplicationKey]
	return nil
}

// keepApp keeps the application's Secret. The password is the user's, if the user made the Secret before or changes
// it; the rest says how to connect.
func (r *Reconciler) keepApp(ctx context.Context, s *scope) error {
	if !s.secrets.authority.isKnown() {
		return nil // certificates failed and say so; without them this would take ca.crt away from the application
	}
	_, err := r.keepSecret(ctx, s, naming.SecretApp(s.cluster.Name), []string{naming.KeyAppPassword}, func(kept map[string][]byte) *corev1ac.SecretApplyConfiguration {
		data := resources.AppData(s.in, kept[naming.KeyAppPassword], s.secrets.authority.bundle)
		return resources.KeptSecret(s.in, naming.SecretApp(s.cluster.Name), data)
	})
	return err
}

// keepSecret keeps what a Secret has under keys, draws what is missing, and applies what build makes of that.
func (r *Reconciler) keepSecret(ctx context.Context, s *scope, name string, keys []string, build func(map[string][]byte) *corev1ac.SecretApplyConfiguration) (map[string][]byte, error) {
	live, err := r.findSecret(ctx, s, name)
	if err != nil {
		return nil, err
	}
	kept, drawn := map[string][]byte{}, false
	for _, key := range keys {
		kept[key] = live.Data[key]
		if len(kept[key]) == 0 {
			kept[key], drawn = []byte(rand.Text()), true
		}
	}
	if live.Name == "" {
		if err := r.createSecret(ctx, s, name, kept); err != nil {
			return nil, err
		}
	}
	if drawn && s.ha().Bootstrapped {
		s.found.events = append(s.found.events, events.SecretRegenerated(name))
	}
	_, _, err = kube.Apply(ctx, r.Client, naming.OwnerCluster, kube.Secrets(), build(kept))
	return kept, err
}

// +kubebuilder:rbac:groups="",resources=secrets,verbs=create;get;list;patch;watch

// findSecret returns a Secret; one without a name when there is none. When the cache does not have it the API server
// is asked: the cache holds only what has our label, and a Secret that merely lost it must not be overwritten.
func (r *Reconciler) findSecret(ctx context.Context, s *scope, name string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	key := types.NamespacedName{Namespace: s.cluster.Namespace, Name: name}
	err := r.Client.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		secret = &corev1.Secret{}
		err = r.Uncached.Get(ctx, key, secret)
	}
	switch {
	case apierrors.IsNotFound(err):
		return &corev1.Secret{}, nil
	case err != nil:
		return nil, fmt.Errorf("get Secret %s: %w", name, err)
	}
	return secret, nil
}

// createSecret creates a Secret and fails if it exists: an apply would let the second of two leaders replace the
// passwords that the first has already given to the instances.
func (r *Reconciler) createSecret(ctx context.Context, s *scope, name string, data map[string][]byte) error {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.cluster.Namespace, Name: name, Labels: resources.Labels(s.cluster)},
		Type:       corev1.SecretTypeOpaque,
		Data:       data,
	}
	if err := r.Client.Create(ctx, secret, client.FieldOwner(naming.OwnerCluster)); err != nil {
		return fmt.Errorf("create Secret %s: %w", name, err)
	}
	return nil
}
