// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"slices"
	"testing"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
	"github.com/keelson-dev/mysql-operator/internal/instance/marker"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

func TestConfirms(t *testing.T) {
	rec := marker.Record{ClusterUID: "u", Order: marker.Order{Epoch: 5, Revision: 7, Primary: "db-0"}}
	member := marker.Member{Name: "db-1", Incarnation: "i"}
	good := func() *wire.Marker {
		return &wire.Marker{ClusterUid: "u", Incarnation: "i", Initialized: true, Epoch: 5, Revision: 7}
	}
	cases := map[string]struct {
		change func(*wire.Marker) *wire.Marker
		want   bool
	}{
		"the same order":                  {func(m *wire.Marker) *wire.Marker { return m }, true},
		"an older order":                  {func(m *wire.Marker) *wire.Marker { m.Epoch = 4; return m }, true},
		"a newer revision":                {func(m *wire.Marker) *wire.Marker { m.Revision = 8; return m }, false},
		"a newer epoch":                   {func(m *wire.Marker) *wire.Marker { m.Epoch, m.Revision = 6, 0; return m }, false},
		"nothing stored":                  {func(*wire.Marker) *wire.Marker { return nil }, false},
		"no order stored":                 {func(m *wire.Marker) *wire.Marker { m.Epoch = 0; return m }, false},
		"another cluster":                 {func(m *wire.Marker) *wire.Marker { m.ClusterUid = "v"; return m }, false},
		"another incarnation of the name": {func(m *wire.Marker) *wire.Marker { m.Incarnation = "j"; return m }, false},
		"data that is not complete":       {func(m *wire.Marker) *wire.Marker { m.Initialized = false; return m }, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if why := confirms(rec, member, c.change(good())); (why == "") != c.want {
				t.Errorf("confirms() = %q, want it to confirm: %v", why, c.want)
			}
		})
	}
}

func TestReplaceable(t *testing.T) {
	full := marker.Record{Initialized: true, Incarnation: "i"}
	cases := map[string]struct {
		record marker.Record
		order  *wire.CloneOrder
		want   bool
	}{
		"an empty instance":                     {marker.Record{}, &wire.CloneOrder{}, true},
		"half a datadir":                        {marker.Record{Incarnation: "i"}, &wire.CloneOrder{}, true},
		"data that the order does not name":     {full, &wire.CloneOrder{}, false},
		"data of another incarnation":           {full, &wire.CloneOrder{Reprovision: "j"}, false},
		"data that the order names":             {full, &wire.CloneOrder{Reprovision: "i"}, true},
		"data of the primary of that epoch":     {full, &wire.CloneOrder{Reprovision: "i", Order: &wire.Order{Primary: "db-0"}}, false},
		"data, while another is primary (F5)":   {full, &wire.CloneOrder{Reprovision: "i", Order: &wire.Order{Primary: "db-1"}}, true},
		"an empty one, although it was primary": {marker.Record{}, &wire.CloneOrder{Order: &wire.Order{Primary: "db-0"}}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if err := replaceable(c.record, c.order, "db-0"); (err == nil) != c.want {
				t.Errorf("replaceable() = %v, want ok %v", err, c.want)
			}
		})
	}
}

func TestReady(t *testing.T) {
	open := view{phase: wire.State_STATE_RUNNING, answering: true, opened: true}
	record := func(role wire.Role) marker.Record {
		return marker.Record{Initialized: true, Order: marker.Order{Role: role}}
	}
	closed, attached, stopping, offline := open, open, open, open
	offline.attached, offline.status.Offline = true, true
	closed.status.SuperReadOnly = true
	attached.attached = true
	stopping.phase = wire.State_STATE_STOPPING
	cases := map[string]struct {
		view   view
		record marker.Record
		want   bool
	}{
		"an open primary":                      {open, record(wire.Role_ROLE_PRIMARY), true},
		"a closed primary":                     {closed, record(wire.Role_ROLE_PRIMARY), false},
		"a primary that stops":                 {stopping, record(wire.Role_ROLE_PRIMARY), false},
		"a replica that was attached":          {attached, record(wire.Role_ROLE_REPLICA), true},
		"a replica that lets nobody in":        {offline, record(wire.Role_ROLE_REPLICA), false},
		"a replica that was never attached":    {open, record(wire.Role_ROLE_REPLICA), false},
		"complete data without a role":         {attached, record(wire.Role_ROLE_UNSPECIFIED), false},
		"a datadir that is not complete (I3)":  {attached, marker.Record{Order: marker.Order{Role: wire.Role_ROLE_REPLICA}}, false},
		"a server that does not answer at all": {view{phase: wire.State_STATE_RUNNING, attached: true}, record(wire.Role_ROLE_REPLICA), false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := ready(c.view, c.record); got != c.want {
				t.Errorf("ready() = %v, want %v", got, c.want)
			}
		})
	}
}

func TestEnumerate(t *testing.T) {
	const u, v = "00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b"
	set := gtid.MustParse(u + ":1-2:9:blue:5-6:red:1," + v + ":tag:7")
	got, ok := enumerate(set, 10)
	want := []string{u + ":1", u + ":2", u + ":9", u + ":blue:5", u + ":blue:6", u + ":red:1", v + ":tag:7"}
	if !ok || !slices.Equal(got, want) {
		t.Errorf("enumerate() = %v, %v", got, ok)
	}
	if _, ok := enumerate(set, 6); ok {
		t.Error("a set of 7 was enumerated with a limit of 6")
	}
}

func TestDoubts(t *testing.T) {
	for name, c := range map[string]struct {
		found, initialized, hasData, want bool
	}{
		"nothing at all":                   {},
		"a marker and its data":            {found: true, initialized: true, hasData: true},
		"a marker and half a datadir":      {found: true, hasData: true},
		"a marker and no data yet":         {found: true},
		"data and no marker":               {hasData: true, want: true},
		"a marker whose data has vanished": {found: true, initialized: true, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			if why := doubts(c.found, c.initialized, c.hasData); (why != "") != c.want {
				t.Errorf("doubts() = %q, want any: %v", why, c.want)
			}
		})
	}
}
