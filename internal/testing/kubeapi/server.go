// SPDX-License-Identifier: Apache-2.0

package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	mysqlv1 "github.com/keelson-dev/mysql-operator/api/v1"
)

// Server is a kube-apiserver with its etcd. The zero value is ready to use.
type Server struct {
	mutex       sync.Mutex
	started     bool
	environment *envtest.Environment
	config      *rest.Config
	err         error
}

// Main runs the tests of a package and then stops the server, if a test started it.
func (s *Server) Main(m *testing.M) {
	m.Run()
	if err := s.stop(); err != nil {
		panic(err) // a server left behind would disturb whatever runs next
	}
}

// Config tells how to reach the server as a cluster administrator; it starts the server.
func (s *Server) Config(t *testing.T) *rest.Config {
	t.Helper()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.started {
		s.started = true
		s.err = s.start(t.Context())
	}
	if s.err != nil {
		t.Fatalf("no API server to test against: %v", s.err)
	}

	return rest.CopyConfig(s.config)
}

// Client talks to the server without a cache; it starts the server.
func (s *Server) Client(t *testing.T) client.Client {
	t.Helper()
	config := s.Config(t)
	c, err := client.New(config, client.Options{Scheme: Scheme(t)})
	if err != nil {
		t.Fatalf("create client: %v", err)
	}

	return c
}

// Namespace creates a namespace that no other test has. No controller deletes
// namespaces here, so it stays until the server stops.
func (s *Server) Namespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := s.Client(t).Create(t.Context(), namespace); err != nil {
		t.Fatalf("create namespace: %v", err)
	}

	return namespace.Name
}

// Scheme holds the types of Kubernetes and of this project.
func Scheme(t *testing.T) *kuberuntime.Scheme {
	t.Helper()
	scheme := kuberuntime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), mysqlv1.AddToScheme(scheme)); err != nil {
		t.Fatalf("build scheme: %v", err)
	}

	return scheme
}

func (s *Server) start(ctx context.Context) error {
	top, err := root()
	if err != nil {
		return err
	}
	assets, err := findAssets(ctx, top)
	if err != nil {
		return err
	}
	s.environment = &envtest.Environment{
		BinaryAssetsDirectory: assets,
		CRDDirectoryPaths:     []string{filepath.Join(top, "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	s.config, err = s.environment.Start()
	if err != nil {
		// Start may have left etcd running behind an API server that did not come up.
		return errors.Join(fmt.Errorf("start kube-apiserver and etcd from %s: %w", assets, err), s.environment.Stop())
	}

	return nil
}

func (s *Server) stop() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.environment == nil || s.err != nil {
		return nil
	}
	if err := s.environment.Stop(); err != nil {
		return fmt.Errorf("stop kube-apiserver and etcd: %w", err)
	}

	return nil
}

// findAssets is the folder that holds kube-apiserver and etcd.
func findAssets(ctx context.Context, top string) (string, error) {
	//nolint:forbidigo // envtest's own variable; a test has no command line to be told by
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
		return assets, nil
	}
	const advice = "set KUBEBUILDER_ASSETS to a folder with kube-apiserver and etcd, or build them once with: go run -C test/devcluster ./cmd/devcluster assets"
	command := exec.CommandContext(ctx, "go", "run", "./cmd/devcluster", "assets")
	command.Dir = filepath.Join(top, "test", "devcluster")
	command.Stderr = os.Stderr // building takes minutes; let the progress be seen
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("build kube-apiserver and etcd (%s): %w", advice, err)
	}
	lines := strings.Fields(string(output))
	if len(lines) == 0 {
		return "", errors.New("test/devcluster printed no folder; " + advice)
	}

	return lines[len(lines)-1], nil
}

// root is the top of the checkout, known from where this file was compiled.
func root() (string, error) {
	_, file, _, known := runtime.Caller(0)
	if !known || !filepath.IsAbs(file) {
		return "", errors.New("find the top of the checkout: this test was built with -trimpath")
	}

	return filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(file)))), nil
}
