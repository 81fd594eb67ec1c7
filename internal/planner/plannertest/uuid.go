// SPDX-License-Identifier: Apache-2.0

package plannertest

import (
	"fmt"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
)

// transaction is the n-th that the instance ever wrote.
func transaction(i *Instance, n int64) gtid.Set {
	return gtid.MustParse(fmt.Sprintf("00000000-0000-0000-0000-%012d:%d", i.Ordinal+1, n))
}
