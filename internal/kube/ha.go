// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
	"github.com/keelson-dev/mysql-operator/internal/naming"
)

// ErrHAChanged says that status.ha is no longer what the decision was made from: drop the decision and look again.
var ErrHAChanged = errors.New("status.ha changed since the decision was made")

// UpdateHA stores want as status.ha of the cluster seen, and returns it as stored, with revision raised by one. It is
// the only writer of status.ha: a compare-and-swap from an uncached read, so that of two leaders, or of one leader
// with an old cache, only one decision is ever stored for one revision (ha-rules A7).
func UpdateHA(ctx context.Context, c client.Client, uncached client.Reader, seen *mysqlv1.MySQLCluster, want mysqlv1.HAStatus) (*mysqlv1.HAStatus, error) {
	live := &mysqlv1.MySQLCluster{}
	if err := uncached.Get(ctx, client.ObjectKeyFromObject(seen), live); err != nil {
		return nil, fmt.Errorf("read MySQLCluster %s: %w", seen.Name, err)
	}
	if live.UID != seen.UID || haVersion(live) != haVersion(seen) {
		return nil, ErrHAChanged
	}
	stored := want.DeepCopy()
	stored.Revision = haVersion(seen).revision + 1
	live.Status.HA = stored
	switch err := c.Status().Update(ctx, live, client.FieldOwner(naming.OwnerStatus)); {
	case apierrors.IsConflict(err):
		return nil, ErrHAChanged
	case err != nil:
		return nil, fmt.Errorf("store status.ha of MySQLCluster %s: %w", seen.Name, err)
	}
	return stored.DeepCopy(), nil
}

// version names one stored state of status.ha.
type version struct{ epoch, revision int64 }

func haVersion(cluster *mysqlv1.MySQLCluster) version {
	if cluster.Status.HA == nil {
		return version{}
	}
	return version{epoch: cluster.Status.HA.Epoch, revision: cluster.Status.HA.Revision}
}
