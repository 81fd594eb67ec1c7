// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// DeleteExact deletes the object as it was seen: another object of the same name, or one that changed since, is
// left alone. It reports whether the object was still there. A pod that was replaced, or became Ready, between the
// look and the delete would be lost otherwise.
func DeleteExact(ctx context.Context, c client.Client, object client.Object, options ...client.DeleteOption) (deleted bool, err error) {
	uid, version := object.GetUID(), object.GetResourceVersion()
	options = append(options, client.Preconditions{UID: &uid, ResourceVersion: &version})
	switch err = c.Delete(ctx, object, options...); {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("delete %T %s: %w", object, object.GetName(), err)
	}
	return true, nil
}

// PatchExact writes the difference between before and after if the object is still as it was seen. It is for
// objects that somebody else creates, and that an apply would create by mistake: volume claims and finalizers.
func PatchExact(ctx context.Context, c client.Client, before, after client.Object, owner string) error {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(ctx, after, patch, client.FieldOwner(owner)); err != nil {
		return fmt.Errorf("patch %T %s: %w", after, after.GetName(), err)
	}
	return nil
}
