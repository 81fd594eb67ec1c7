// SPDX-License-Identifier: Apache-2.0

package volume_test

import (
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/volume"
)

const mebi = 1 << 20

func TestSize(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		required, limit int64
		want            int64
		wantErr         error
	}{
		"what was asked for":                  {required: 100 * mebi, want: 100 * mebi},
		"rounded up to whole MiB":             {required: 100*mebi + 1, want: 101 * mebi},
		"nothing asked for":                   {want: volume.DefaultSize},
		"nothing asked for, but a limit":      {limit: 128 * mebi, want: 128 * mebi},
		"never too small for a file system":   {required: 1, want: volume.MinSize},
		"a limit too small for a file system": {required: 1, limit: mebi, wantErr: volume.ErrSize},
		"rounding must not pass the limit":    {required: 100*mebi + 1, limit: 100*mebi + 2, wantErr: volume.ErrSize},
		"more than the limit":                 {required: 2 * mebi, limit: mebi, wantErr: volume.ErrSize},
		"negative":                            {required: -1, wantErr: volume.ErrSize},
		"a typing error":                      {required: volume.MaxSize + 1, wantErr: volume.ErrSize},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := volume.Size(tt.required, tt.limit)
			if got != tt.want || !errors.Is(err, tt.wantErr) {
				t.Errorf("Size(%d, %d) = %d, %v; want %d, %v", tt.required, tt.limit, got, err, tt.want, tt.wantErr)
			}
		})
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	s := volume.Store{Dir: t.TempDir()}
	want := volume.Volume{ID: "pvc-1", Node: "node1", Backend: volume.Directory, Size: 100 * mebi}
	for range 2 { // The second time is a repeated request.
		got, err := s.Create(t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Create() mismatch (-want +got):\n%s", diff)
		}
	}
	if info, err := os.Stat(s.Folder("pvc-1")); err != nil || !info.IsDir() {
		t.Errorf("no folder for the content: %v", err)
	}

	other := want
	other.Node = "node2"
	if _, err := s.Create(t.Context(), other); !errors.Is(err, volume.ErrConflict) {
		t.Errorf("Create() on another node = %v, want ErrConflict", err)
	}

	want.Size = 200 * mebi
	if got, err := s.Grow("pvc-1", want.Size); err != nil || got != want {
		t.Errorf("Grow() = %+v, %v; want %+v", got, err, want)
	}
	if got, err := s.Grow("pvc-1", 100*mebi); err != nil || got != want {
		t.Errorf("Grow() to less = %+v, %v; want %+v unchanged", got, err, want)
	}

	for range 2 {
		if err := s.Delete("pvc-1"); err != nil {
			t.Errorf("Delete() = %v", err)
		}
	}
	if _, err := s.Get("pvc-1"); !errors.Is(err, volume.ErrNotFound) {
		t.Errorf("Get() = %v, want ErrNotFound", err)
	}
}

// TestNamesStayInside: a name from the API must not reach files outside of the store.
func TestNamesStayInside(t *testing.T) {
	t.Parallel()
	s := volume.Store{Dir: t.TempDir()}
	for _, id := range []string{"", ".", "..", "../x", "a/b", ".new-1"} {
		if err := s.Delete(id); !errors.Is(err, volume.ErrName) {
			t.Errorf("Delete(%q) = %v, want ErrName", id, err)
		}
		if _, err := s.Create(t.Context(), volume.Volume{ID: id, Backend: volume.Directory, Size: mebi}); !errors.Is(err, volume.ErrName) {
			t.Errorf("Create(%q) = %v, want ErrName", id, err)
		}
	}
}
