// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/layout"
)

// api asks the API server as the administrator.
type api struct {
	base   string
	client *http.Client
}

func newAPI(c layout.Cluster) (*api, error) {
	pair, err := tls.LoadX509KeyPair(c.Path("pki", "admin.crt"), c.Path("pki", "admin.key"))
	if err != nil {
		return nil, fmt.Errorf("read administrator's certificate: %w", err)
	}
	text, err := os.ReadFile(c.Path("pki", "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read certificate authority: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	transport := &http.Transport{TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, MinVersion: tls.VersionTLS13}}
	return &api{base: c.APIServer(), client: &http.Client{Transport: transport, Timeout: 5 * time.Second}}, nil
}

func (a *api) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+path, nil)
	if err != nil {
		return nil, err
	}
	return a.do(request)
}

// patch changes the named parts of an object.
func (a *api) patch(ctx context.Context, path, change string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPatch, a.base+path, strings.NewReader(change))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/strategic-merge-patch+json")
	_, err = a.do(request)
	return err
}

func (a *api) do(request *http.Request) ([]byte, error) {
	response, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", request.URL.Path, response.Status)
	}
	return body, nil
}

// node is the part of a Node that is looked at.
type node struct {
	Metadata struct{ Name string }
	Status   struct {
		Conditions []struct{ Type, Status, Reason string }
	}
}

func (n node) ready() string {
	for _, condition := range n.Status.Conditions {
		if condition.Type == "Ready" {
			return condition.Status
		}
	}
	return "Unknown"
}

func listNodes(ctx context.Context, a *api) ([]node, error) {
	body, err := a.get(ctx, "/api/v1/nodes")
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	var list struct{ Items []node }
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("parse nodes: %w", err)
	}
	return list.Items, nil
}

func nodesReady(ctx context.Context, a *api, want int) error {
	nodes, err := listNodes(ctx, a)
	if err != nil {
		return err
	}
	have := 0
	for _, n := range nodes {
		if n.ready() == "True" {
			have++
		}
	}
	if have < want {
		return fmt.Errorf("%d of %d are ready", have, want)
	}
	return nil
}

// markDown says in the Node objects what is true once the nodes are stopped. Otherwise a kubelet that starts again
// finds itself Ready from before, believes it, and waits ten seconds until it looks again.
func markDown(ctx context.Context, c layout.Cluster) {
	a, err := newAPI(c)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	nodes, err := listNodes(ctx, a)
	if err != nil {
		return // No API server to tell.
	}
	for _, n := range nodes {
		_ = a.patch(ctx, "/api/v1/nodes/"+n.Metadata.Name+"/status",
			`{"status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"ClusterStopped","message":"devcluster down"}]}}`)
	}
}
