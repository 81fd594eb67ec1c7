// SPDX-License-Identifier: Apache-2.0

package marker

import (
	"errors"
	"testing"

	"github.com/keelson-dev/mysql-operator/internal/wire"
)

func header(uid string, epoch, revision int64, primary string) *wire.Order {
	return &wire.Order{ClusterUid: uid, Epoch: epoch, Revision: revision, Primary: primary}
}

func TestAccept(t *testing.T) {
	stored := Record{ClusterUID: "u", Initialized: true, Order: Order{Epoch: 5, Revision: 7, Primary: "db-1"}}
	cases := map[string]struct {
		record Record
		order  *wire.Order
		want   error
	}{
		"an instance that stored nothing accepts":          {Record{}, header("u", 1, 0, ""), nil},
		"the stored order again is accepted":               {stored, header("u", 5, 7, "db-1"), nil},
		"a higher revision of the epoch is accepted":       {stored, header("u", 5, 8, "db-1"), nil},
		"a higher epoch with a lower revision is accepted": {stored, header("u", 6, 1, "db-2"), nil},
		"a higher epoch may name another primary":          {stored, header("u", 6, 8, "db-2"), nil},
		"a lower epoch is refused":                         {stored, header("u", 4, 99, "db-1"), ErrOlder},
		"a lower revision of the epoch is refused":         {stored, header("u", 5, 6, "db-1"), ErrOlder},
		"another primary in the epoch is refused":          {stored, header("u", 5, 8, "db-2"), ErrOtherPrimary},
		"an order without a primary keeps the epoch's":     {stored, header("u", 5, 8, ""), nil},
		"a stored order without a primary may learn it":    {Record{ClusterUID: "u", Order: Order{Epoch: 5}}, header("u", 5, 1, "db-0"), nil},
		"another cluster is refused":                       {stored, header("v", 9, 9, "db-1"), ErrOtherCluster},
		"a leftover of another cluster blocks nobody": {
			Record{ClusterUID: "u", Order: Order{Epoch: 5, Revision: 7}}, header("v", 1, 0, ""), nil,
		},
		"a leftover of the same cluster remembers": {
			Record{ClusterUID: "u", Order: Order{Epoch: 5, Revision: 7}}, header("u", 1, 0, ""), ErrOlder,
		},
		"an order without a cluster is refused": {stored, header("", 9, 9, "db-1"), ErrMalformed},
		"an order without an epoch is refused":  {stored, header("u", 0, 9, "db-1"), ErrMalformed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if err := Accept(c.record, c.order); !errors.Is(err, c.want) {
				t.Errorf("Accept() = %v, want %v", err, c.want)
			}
		})
	}
}

func TestAcceptRoleWhileAListShrinks(t *testing.T) {
	one, two := []*wire.Member{{Name: "db-0"}}, []*wire.Member{{Name: "db-0"}, {Name: "db-1", Incarnation: "i"}}
	turned := []*wire.Member{two[1], two[0]}
	stored := Record{ClusterUID: "u", Initialized: true}.WithRole(&wire.RoleOrder{
		Order: header("u", 5, 7, "db-0"), Role: wire.Role_ROLE_PRIMARY, Members: two, WaitFor: 1,
	})
	primary := func(revision int64, list, replaces []*wire.Member, replacesWaitFor int32) *wire.RoleOrder {
		return &wire.RoleOrder{
			Order: header("u", 5, revision, "db-0"), Role: wire.Role_ROLE_PRIMARY, Members: list,
			WaitFor: int32(len(list) - 1), Replaces: replaces, ReplacesWaitFor: replacesWaitFor,
		}
	}
	cases := map[string]struct {
		order *wire.RoleOrder
		want  error
	}{
		"a step decided from what is stored":           {primary(7, one, turned, 1), nil},
		"the stored order again":                       {primary(7, two, one, 0), nil},
		"a delayed step decided from another list":     {primary(7, one, one, 1), ErrReplaced},
		"a delayed step decided from another count":    {primary(7, one, two, 2), ErrReplaced},
		"a step that does not say what it replaces":    {primary(7, one, nil, 0), ErrReplaced},
		"the next revision is a decision of its own":   {primary(8, one, one, 0), nil},
		"another role in the same revision":            {&wire.RoleOrder{Order: header("u", 5, 7, "db-0"), Role: wire.Role_ROLE_FENCED}, nil},
		"an older revision, whatever it says of lists": {primary(6, one, two, 1), ErrOlder},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if err := AcceptRole(stored, c.order); !errors.Is(err, c.want) {
				t.Errorf("AcceptRole() = %v, want %v", err, c.want)
			}
		})
	}
}

func TestNewDataKeepsOnlyTheNumbersOfAnOrder(t *testing.T) {
	old := Record{Initialized: true, Order: Order{Epoch: 5, Revision: 7, Role: wire.Role_ROLE_REPLICA, InSync: []Member{{Name: "db-9"}}, MinInSync: 2}}
	got := old.WithNewData(header("u", 5, 9, "db-1"), "i").Order
	if got.Epoch != 5 || got.Revision != 9 || got.Primary != "db-1" || got.InSync != nil || got.MinInSync != 0 || got.Role != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestCheckRole(t *testing.T) {
	pair := []*wire.Member{{Name: "db-0"}, {Name: "db-1"}}
	cases := map[string]struct {
		order *wire.RoleOrder
		ok    bool
	}{
		"a primary that waits for all others": {
			&wire.RoleOrder{Role: wire.Role_ROLE_PRIMARY, Order: header("u", 1, 1, "db-0"), Members: pair, WaitFor: 1}, true,
		},
		"a shrink waits for more than the list": {
			&wire.RoleOrder{Role: wire.Role_ROLE_PRIMARY, Order: header("u", 1, 1, "db-0"), Members: pair, WaitFor: 2}, true,
		},
		"a primary that waits for too few": {
			&wire.RoleOrder{Role: wire.Role_ROLE_PRIMARY, Order: header("u", 1, 1, "db-0"), Members: pair}, false,
		},
		"a primary that is not in its list": {
			&wire.RoleOrder{Role: wire.Role_ROLE_PRIMARY, Order: header("u", 1, 1, "db-0"), Members: pair[1:]}, false,
		},
		"a primary in another's epoch": {
			&wire.RoleOrder{Role: wire.Role_ROLE_PRIMARY, Order: header("u", 1, 1, "db-1"), Members: pair, WaitFor: 1}, false,
		},
		"a replica with a source": {
			&wire.RoleOrder{Role: wire.Role_ROLE_REPLICA, Order: header("u", 1, 1, "db-1"), Source: "db-1", SourceHost: "h", SourcePort: 1}, true,
		},
		"a replica of itself": {
			&wire.RoleOrder{Role: wire.Role_ROLE_REPLICA, Order: header("u", 1, 1, "db-0"), Source: "db-0", SourceHost: "h", SourcePort: 1}, false,
		},
		"a replica of nobody": {&wire.RoleOrder{Role: wire.Role_ROLE_REPLICA, Order: header("u", 1, 1, "db-1")}, false},
		"no role":             {&wire.RoleOrder{Order: header("u", 1, 1, "db-1")}, false},
		"fenced":              {&wire.RoleOrder{Role: wire.Role_ROLE_FENCED, Order: header("u", 1, 1, "db-1")}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if err := CheckRole(c.order, "db-0"); (err == nil) != c.ok {
				t.Errorf("CheckRole() = %v, want ok %v", err, c.ok)
			}
		})
	}
}
