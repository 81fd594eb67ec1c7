// SPDX-License-Identifier: Apache-2.0

package gtid_test

import (
	"fmt"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
)

// A replica may follow a primary only when the primary has everything the replica has.
func ExampleSet_Contains() {
	primary := gtid.MustParse("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-100")
	replica := gtid.MustParse("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-90")
	strayed := gtid.MustParse("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-90,9f6a3c1e-0000-4000-8000-000000000001:1")
	fmt.Println(primary.Contains(replica))
	fmt.Println(primary.Contains(strayed), strayed.Subtract(primary))
	// Output:
	// true
	// false 9f6a3c1e-0000-4000-8000-000000000001:1
}

// Tags have numbers of their own.
func ExampleParse() {
	set, err := gtid.Parse("3E11FA47-71CA-11E1-9E33-C80AA9429562:7:1-3:blue:4-5:4")
	fmt.Println(set, set.Count(), err)
	// Output: 3e11fa47-71ca-11e1-9e33-c80aa9429562:1-3:7:blue:4-5 6 <nil>
}
