// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"testing"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
	"github.com/keelson-dev/mysql-operator/internal/mysql"
)

// A field that is never written reads as "nothing is wrong": a member whose receiver was cut off was never left out of
// the set, because nobody told for how long.
func TestEveryFieldOfTheServerIsTold(t *testing.T) {
	lost := mysql.Channel{
		Configured: true, SourceHost: "c-0", Receiver: mysql.ReceiverConnecting, Applier: true, ReceiverErrno: 1236, LagSeconds: 3,
		ReceiverError: "purged", ApplierError: "broken", Received: gtid.MustParse("00000000-0000-0000-0000-000000000001:1"),
	}
	v := view{
		answering: true, startID: "s", opened: true, receiverDown: time.Second,
		status: mysql.Status{
			ServerUUID: "u", ServerID: 1, SourceEnabled: true, SourceStatus: true, WaitFor: 2, Clients: 2, WaitSessions: 1,
			ReplicaEnabled: true, ReplicaStatus: true, Dumps: []mysql.Session{{User: "keelson_repl_1"}}, Channel: lost,
		},
	}
	closed := v
	closed.status.ReadOnly, closed.status.SuperReadOnly, closed.status.Offline = true, true, true
	told := map[protoreflect.Name]bool{"barrier": true} // told by snapshot, since it belongs to an order
	for _, v := range []view{v, closed} {
		wireServer(v).ProtoReflect().Range(func(f protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
			told[f.Name()] = true
			return true
		})
	}
	fields := wireServer(v).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if name := fields.Get(i).Name(); !told[name] {
			t.Errorf("%s is never told", name)
		}
	}
}

func TestTheReceiverIsDownSinceItWasConnectedLast(t *testing.T) {
	m := &Manager{}
	m.status.Channel = mysql.Channel{Configured: true, Receiver: mysql.ReceiverConnecting}
	if m.receiverDown() <= 0 {
		t.Error("a receiver that connects is not down")
	}
	since := m.receiverLost
	if m.receiverDown(); m.receiverLost != since {
		t.Error("the time it was lost moved on")
	}
	m.status.Channel.Receiver = mysql.ReceiverConnected
	if m.receiverDown() != 0 {
		t.Error("a connected receiver is down")
	}
}
