// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// Configuration is a typed apply configuration.
type Configuration interface {
	runtime.ApplyConfiguration
	GetName() *string
	GetNamespace() *string
	GetKind() *string
}

// Kind ties an object type to its apply configuration.
type Kind[T client.Object, C Configuration] struct {
	// New returns an empty object.
	New func() T
	// Extract returns the fields of an object that a field owner owns.
	Extract func(object T, owner string) (C, error)
}

// Apply makes the fields of want those of the object in the API server, owned by owner, taking them from whoever
// changed them. It writes nothing when the object in the cache already has them so, and returns that object (its
// name is empty when it did not exist) and whether it wrote. Afterwards want is what the API server answered to a write.
func Apply[T client.Object, C Configuration](ctx context.Context, c client.Client, owner string, kind Kind[T, C], want C) (live T, wrote bool, err error) {
	live = kind.New()
	key := types.NamespacedName{Namespace: ptr.Deref(want.GetNamespace(), ""), Name: ptr.Deref(want.GetName(), "")}
	what := ptr.Deref(want.GetKind(), "")
	switch err = c.Get(ctx, key, live); {
	case apierrors.IsNotFound(err):
	case err != nil:
		return live, false, fmt.Errorf("get %s %s: %w", what, key.Name, err)
	default:
		same, compareErr := owns(kind, live, owner, want)
		if compareErr != nil || same {
			return live, false, compareErr
		}
	}
	logr.FromContextOrDiscard(ctx).V(1).Info("Applying object", naming.LogKind, what, "name", key.Name)
	if err = c.Apply(ctx, want, client.FieldOwner(owner), client.ForceOwnership); err != nil {
		return live, false, fmt.Errorf("apply %s %s: %w", what, key.Name, err)
	}
	return live, true, nil
}

// owns tells whether owner's fields of live are exactly those of want.
func owns[T client.Object, C Configuration](kind Kind[T, C], live T, owner string, want C) (bool, error) {
	got, err := kind.Extract(live, owner)
	if err != nil {
		return false, fmt.Errorf("read field ownership of %s: %w", live.GetName(), err)
	}
	return equality.Semantic.DeepEqual(want, got), nil
}
