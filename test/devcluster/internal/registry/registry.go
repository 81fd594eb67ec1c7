// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
)

var manifestPath = regexp.MustCompile(`^/v2/.+/manifests/[^/]+$`)

// kept is a manifest on disk: the library keeps manifests in memory only, and a restarted cluster must still have them.
type kept struct {
	Path        string
	ContentType string
	Body        []byte
	Order       int // an index comes after the manifests it lists
}

type server struct {
	inner     http.Handler
	manifests string

	mu   sync.Mutex // guards next
	next int
}

// Handler serves the registry whose blobs and manifests are in dir.
func Handler(dir string) (http.Handler, error) {
	s := &server{manifests: filepath.Join(dir, "manifests")}
	for _, path := range []string{s.manifests, BlobDir(dir)} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return nil, fmt.Errorf("create registry folder: %w", err)
		}
	}
	s.inner = ggcr.New(ggcr.WithBlobHandler(ggcr.NewDiskBlobHandler(filepath.Join(dir, "blobs"))), ggcr.Logger(log.New(io.Discard, "", 0)))
	return s, s.replay()
}

// BlobDir is where the registry in dir keeps its blobs, named by their digest.
func BlobDir(dir string) string { return filepath.Join(dir, "blobs", "sha256") }

// ServeHTTP serves one request; a manifest that was accepted is on disk before the client hears of it.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPut || !manifestPath.MatchString(r.URL.Path) {
		s.inner.ServeHTTP(w, r)
		return
	}
	const manifestLimit = 4 << 20
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, manifestLimit))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock() // One after the other: what comes later may refer to what came before, also after a restart.
	defer s.mu.Unlock()
	k := kept{Path: r.URL.Path, ContentType: r.Header.Get("Content-Type"), Body: body, Order: s.next}
	answer := s.put(k)
	if answer.status < http.StatusMultipleChoices {
		if err := s.keep(k); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	answer.send(w)
}

func (s *server) put(k kept) *answer {
	request := &http.Request{
		Method: http.MethodPut, URL: &url.URL{Path: k.Path}, Host: "registry",
		Header: http.Header{"Content-Type": {k.ContentType}}, Body: io.NopCloser(bytes.NewReader(k.Body)),
	}
	a := &answer{header: http.Header{}, status: http.StatusOK}
	s.inner.ServeHTTP(a, request)
	return a
}

func (s *server) keep(k kept) error {
	s.next++
	text, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("encode manifest: %w", err)
	}
	path := filepath.Join(s.manifests, url.PathEscape(k.Path))
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return fmt.Errorf("keep manifest: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("keep manifest: %w", err)
	}
	return nil
}

func (s *server) replay() error {
	files, err := filepath.Glob(filepath.Join(s.manifests, "*manifests*"))
	if err != nil {
		return fmt.Errorf("list manifests: %w", err)
	}
	var all []kept
	for _, file := range files {
		if filepath.Ext(file) == ".new" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read manifest: %w", err)
		}
		var k kept
		if err := json.Unmarshal(text, &k); err != nil {
			return fmt.Errorf("parse manifest %s: %w", file, err)
		}
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b kept) int { return a.Order - b.Order })
	for _, k := range all {
		s.put(k)
		s.next = k.Order + 1
	}
	return nil
}

// answer is a response that is looked at before it is sent.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header is the answer's header.
func (a *answer) Header() http.Header { return a.header }

// Write adds to the answer's body.
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }

// WriteHeader sets the answer's status.
func (a *answer) WriteHeader(status int) { a.status = status }

func (a *answer) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes())
}
