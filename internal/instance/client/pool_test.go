// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/keelson-dev/mysql-operator/internal/naming"
	"github.com/keelson-dev/mysql-operator/internal/pki"
	"github.com/keelson-dev/mysql-operator/internal/wire"
)

// instance is a server that says what a test puts into it.
type instance struct {
	wire.UnimplementedInstanceServer
	say   chan *wire.Snapshot
	reply func(*wire.RoleOrder) (*wire.OrderReply, error)
}

func (i *instance) Watch(_ *wire.WatchRequest, stream wire.Instance_WatchServer) error {
	for {
		select {
		case <-stream.Context().Done():
			return nil
		case s := <-i.say:
			if s == nil {
				return status.Error(codes.Unavailable, "going away")
			}
			if err := stream.Send(s); err != nil {
				return err
			}
		}
	}
}

func (i *instance) SetRole(_ context.Context, o *wire.RoleOrder) (*wire.OrderReply, error) {
	return i.reply(o)
}

// fixture is an authority with a server of db-0 and what reaches it.
type fixture struct {
	t        *testing.T
	ca       pki.CA
	endpoint Endpoint
}

var key = Key{Namespace: "ns", Cluster: "db", Instance: "db-0"}

func identity(instance string) pki.Identity {
	return pki.Identity{Namespace: "ns", Cluster: "db", Role: naming.IdentityInstance, Instance: instance}
}

func (f *fixture) source(id pki.Identity) *pki.Store {
	f.t.Helper()
	pair, err := f.ca.Issue(pki.Request{Identity: id}, time.Now())
	if err != nil {
		f.t.Fatal(err)
	}
	var s pki.Store
	if err := s.Set(pair, f.ca.CertPEM()); err != nil {
		f.t.Fatal(err)
	}
	return &s
}

func serve(t *testing.T, i *instance) *fixture {
	t.Helper()
	ca, err := pki.NewCA(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, ca: ca}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(grpc.Creds(credentials.NewTLS(pki.ServerTLS(f.source(identity("db-0")), pki.AcceptCluster("ns", "db"), time.Now))))
	wire.RegisterInstanceServer(s, i)
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() { s.Stop(); wg.Wait() })
	operator := f.source(pki.Identity{Namespace: "ns", Cluster: "db", Role: naming.IdentityOperator})
	f.endpoint = Endpoint{Address: l.Addr().String(), Version: "1", TLS: pki.ClientTLS(operator, pki.AcceptOnly(identity("db-0")), time.Now)}
	return f
}

func pool(t *testing.T) *Pool {
	t.Helper()
	p := NewPool(t.Context())
	t.Cleanup(p.Close)
	return p
}

// changed waits for the next change.
func changed(t *testing.T, p *Pool) {
	t.Helper()
	select {
	case k := <-p.Changes():
		if k != key {
			t.Fatalf("the key is %v", k)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("no change was told; the stream says %v", p.Err(key))
	}
}

func get(t *testing.T, p *Pool) *wire.Snapshot {
	t.Helper()
	o, ok := p.Get(key)
	if !ok {
		t.Fatal("nothing is known")
	}
	return o.Snapshot
}

func TestPoolKeepsTheNewestSnapshot(t *testing.T) {
	i := &instance{say: make(chan *wire.Snapshot)}
	f := serve(t, i)
	p := pool(t)
	p.Ensure(key, f.endpoint)
	p.Ensure(key, f.endpoint) // the same again: nothing happens
	if _, ok := p.Get(key); ok {
		t.Error("something is known before anything was said")
	}
	i.say <- &wire.Snapshot{ManagerId: "m", Sequence: 1, State: wire.State_STATE_EMPTY}
	changed(t, p)
	i.say <- &wire.Snapshot{ManagerId: "m", Sequence: 2, State: wire.State_STATE_CLONING}
	changed(t, p)
	if got := get(t, p).GetState(); got != wire.State_STATE_CLONING {
		t.Errorf("state is %s", got)
	}
	// A heartbeat changes nothing, and wakes nobody; what follows does.
	i.say <- &wire.Snapshot{ManagerId: "m", Sequence: 2, State: wire.State_STATE_CLONING}
	i.say <- &wire.Snapshot{ManagerId: "m", Sequence: 3, State: wire.State_STATE_RUNNING}
	changed(t, p)
	if got := get(t, p).GetState(); got != wire.State_STATE_RUNNING {
		t.Errorf("state is %s: a heartbeat was told as a change", got)
	}
	p.Forget(key)
	if _, ok := p.Get(key); ok || len(p.Keys("ns", "db")) != 0 {
		t.Error("a forgotten instance is still known")
	}
}

func TestPoolComesBackAfterTheStreamEnded(t *testing.T) {
	i := &instance{say: make(chan *wire.Snapshot)}
	f := serve(t, i)
	p := pool(t)
	p.Ensure(key, f.endpoint)
	i.say <- &wire.Snapshot{ManagerId: "m", Sequence: 1}
	changed(t, p)
	i.say <- nil
	changed(t, p) // the stream went down
	if o, ok := p.Get(key); !ok || o.Connected || p.Err(key) == nil {
		t.Errorf("after the end: known %v, connected %v, error %v", ok, o.Connected, p.Err(key))
	}
	i.say <- &wire.Snapshot{ManagerId: "other", Sequence: 1, State: wire.State_STATE_RUNNING}
	changed(t, p)
	if o, _ := p.Get(key); !o.Connected || o.Snapshot.GetManagerId() != "other" {
		t.Errorf("after it came back: %v", o)
	}
}

func TestReplyThatOvertakesTheStreamIsKept(t *testing.T) {
	i := &instance{say: make(chan *wire.Snapshot)}
	i.reply = func(*wire.RoleOrder) (*wire.OrderReply, error) {
		return &wire.OrderReply{Snapshot: &wire.Snapshot{ManagerId: "m", Sequence: 5, Why: "ordered"}}, nil
	}
	f := serve(t, i)
	p := pool(t)
	p.Ensure(key, f.endpoint)
	i.say <- &wire.Snapshot{ManagerId: "m", Sequence: 3}
	changed(t, p)
	if _, err := p.SetRole(t.Context(), key, &wire.RoleOrder{}); err != nil {
		t.Fatal(err)
	}
	i.say <- &wire.Snapshot{ManagerId: "m", Sequence: 4, Why: "late"}
	i.say <- &wire.Snapshot{ManagerId: "m", Sequence: 4, Why: "late"} // the first one was taken in
	if got := get(t, p).GetWhy(); got != "ordered" {
		t.Errorf("the newest says %q", got)
	}
}

func TestOrdersThatCannotBeSent(t *testing.T) {
	i := &instance{say: make(chan *wire.Snapshot)}
	i.reply = func(*wire.RoleOrder) (*wire.OrderReply, error) { return nil, status.Error(codes.Aborted, "older") }
	f := serve(t, i)
	p := pool(t)
	if _, err := p.SetRole(t.Context(), key, nil); err == nil {
		t.Error("an order to an unknown instance was sent")
	}
	p.Ensure(key, f.endpoint)
	i.say <- &wire.Snapshot{}
	changed(t, p)
	if _, err := p.SetRole(t.Context(), key, &wire.RoleOrder{}); status.Code(err) != codes.Aborted {
		t.Errorf("SetRole() = %v, want Aborted", err)
	}
}

func TestAnotherInstanceIsNotTrusted(t *testing.T) {
	i := &instance{say: make(chan *wire.Snapshot)}
	f := serve(t, i)
	operator := f.source(pki.Identity{Namespace: "ns", Cluster: "db", Role: naming.IdentityOperator})
	f.endpoint.TLS = pki.ClientTLS(operator, pki.AcceptOnly(identity("db-1")), time.Now)
	p := pool(t)
	p.Ensure(key, f.endpoint)
	select {
	case i.say <- &wire.Snapshot{}:
		t.Error("a stream was opened to an instance with another identity")
	case <-waitErr(t, p):
	}
}

// waitErr is closed once the stream has failed.
func waitErr(t *testing.T, p *Pool) <-chan struct{} {
	t.Helper()
	failed := make(chan struct{})
	go func() {
		defer close(failed)
		again := time.NewTicker(10 * time.Millisecond)
		defer again.Stop()
		for p.Err(key) == nil && t.Context().Err() == nil {
			<-again.C
		}
	}()
	return failed
}

func TestOnlyProgress(t *testing.T) {
	base := func() *wire.Snapshot {
		return &wire.Snapshot{Sequence: 1, Gtid: &wire.GTIDs{Executed: "a"}, Server: &wire.Server{LagMilliseconds: 1, WaitSessions: 2}}
	}
	cases := map[string]struct {
		change func(*wire.Snapshot)
		want   bool
	}{
		"more transactions":       {func(s *wire.Snapshot) { s.Sequence, s.Gtid.Executed = 2, "b" }, true},
		"another lag":             {func(s *wire.Snapshot) { s.Server.LagMilliseconds = 9 }, true},
		"fewer waiting commits":   {func(s *wire.Snapshot) { s.Server.WaitSessions = 1 }, true},
		"no waiting commit":       {func(s *wire.Snapshot) { s.Server.WaitSessions = 0 }, false},
		"a barrier":               {func(s *wire.Snapshot) { s.Server.Barrier = "a" }, false},
		"the sets became unknown": {func(s *wire.Snapshot) { s.Gtid = nil }, false},
		"another state":           {func(s *wire.Snapshot) { s.State = wire.State_STATE_DOWN }, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := base()
			c.change(s)
			if got := onlyProgress(base(), s); got != c.want {
				t.Errorf("onlyProgress() = %v, want %v", got, c.want)
			}
		})
	}
}
