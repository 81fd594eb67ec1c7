// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"net/http"
	"sync/atomic"
)

// Requests counts the API requests made under one context.
type Requests struct{ reads, writes atomic.Int64 }

// Reads returns how many requests read.
func (r *Requests) Reads() int64 { return r.reads.Load() }

// Writes returns how many requests wrote, or tried to.
func (r *Requests) Writes() int64 { return r.writes.Load() }

type requestsKey struct{}

// WithRequests returns a context under which API requests are counted, and the count.
func WithRequests(ctx context.Context) (context.Context, *Requests) {
	count := &Requests{}
	return context.WithValue(ctx, requestsKey{}, count), count
}

// CountRequests wraps the transport of an API client so that each request is counted in its context's Requests. What
// the cache's own watches ask for has no such context and is not counted.
func CountRequests(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if count, ok := request.Context().Value(requestsKey{}).(*Requests); ok {
			if request.Method == http.MethodGet {
				count.reads.Add(1)
			} else {
				count.writes.Add(1)
			}
		}
		return next.RoundTrip(request)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip sends the request.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
