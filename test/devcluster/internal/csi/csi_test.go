// SPDX-License-Identifier: Apache-2.0

package csi

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/volume"
)

func request(change func(*csi.CreateVolumeRequest)) *csi.CreateVolumeRequest {
	r := &csi.CreateVolumeRequest{
		Name: "pvc-1", Parameters: map[string]string{"backend": "directory"},
		CapacityRange: &csi.CapacityRange{RequiredBytes: 100 << 20},
		AccessibilityRequirements: &csi.TopologyRequirement{Preferred: []*csi.Topology{
			{Segments: map[string]string{TopologyKey: "node2"}},
		}},
		VolumeCapabilities: []*csi.VolumeCapability{mode(csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER)},
	}
	change(r)
	return r
}

func mode(m csi.VolumeCapability_AccessMode_Mode) *csi.VolumeCapability {
	return &csi.VolumeCapability{
		AccessMode: &csi.VolumeCapability_AccessMode{Mode: m},
		AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}},
	}
}

func TestCreateVolume(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*csi.CreateVolumeRequest)
		want   codes.Code
	}{
		"ReadWriteOncePod":      {change: func(*csi.CreateVolumeRequest) {}},
		"no node was chosen":    {change: func(r *csi.CreateVolumeRequest) { r.AccessibilityRequirements = nil }, want: codes.InvalidArgument},
		"an unknown backend":    {change: func(r *csi.CreateVolumeRequest) { r.Parameters["backend"] = "tape" }, want: codes.InvalidArgument},
		"a name that is a path": {change: func(r *csi.CreateVolumeRequest) { r.Name = "../x" }, want: codes.InvalidArgument},
		"a size out of range":   {change: func(r *csi.CreateVolumeRequest) { r.CapacityRange.LimitBytes = 1 }, want: codes.OutOfRange},
		"several nodes at once": {change: func(r *csi.CreateVolumeRequest) {
			r.VolumeCapabilities = []*csi.VolumeCapability{mode(csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER)}
		}, want: codes.InvalidArgument},
		"a block device": {change: func(r *csi.CreateVolumeRequest) {
			r.VolumeCapabilities[0].AccessType = &csi.VolumeCapability_Block{Block: &csi.VolumeCapability_BlockVolume{}}
		}, want: codes.InvalidArgument},
		"an unknown file system": {change: func(r *csi.CreateVolumeRequest) {
			r.VolumeCapabilities[0].GetMount().FsType = "fat"
		}, want: codes.InvalidArgument},
		"a copy of another volume": {change: func(r *csi.CreateVolumeRequest) { r.VolumeContentSource = &csi.VolumeContentSource{} }, want: codes.InvalidArgument},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &Controller{Store: volume.Store{Dir: t.TempDir()}}
			got, err := c.CreateVolume(t.Context(), request(tt.change))
			if status.Code(err) != tt.want {
				t.Fatalf("CreateVolume() = %v, want code %s", err, tt.want)
			}
			if err == nil && got.GetVolume().GetAccessibleTopology()[0].GetSegments()[TopologyKey] != "node2" {
				t.Errorf("CreateVolume() = %v, want a volume of node2", got)
			}
		})
	}
}

// TestForeignVolumeIsNotMounted: one file system on two nodes at once would be destroyed.
func TestForeignVolumeIsNotMounted(t *testing.T) {
	t.Parallel()
	s := volume.Store{Dir: t.TempDir()}
	if _, err := s.Create(t.Context(), volume.Volume{ID: "v", Node: "node1", Backend: volume.Directory, Size: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	n := &Node{Name: "node2", Store: s}
	_, err := n.NodeStageVolume(t.Context(), &csi.NodeStageVolumeRequest{VolumeId: "v", StagingTargetPath: t.TempDir()})
	if status.Code(err) != codes.FailedPrecondition {
		t.Errorf("NodeStageVolume() = %v, want FailedPrecondition", err)
	}
}

func TestPublished(t *testing.T) {
	t.Parallel()
	const staged = "30 1 7:2 / /plugins/globalmount rw - xfs /dev/loop2 rw\n"
	tests := map[string]struct {
		mounts string
		want   bool
	}{
		"only staged":              {mounts: staged},
		"staged and in a pod":      {mounts: staged + "31 1 7:2 / /pods/a/mount rw - xfs /dev/loop2 rw\n", want: true},
		"another volume in a pod":  {mounts: staged + "31 1 7:3 / /pods/a/mount rw - xfs /dev/loop3 rw\n"},
		"another folder of a disk": {mounts: staged + "31 1 7:2 /sub /pods/a/mount rw - xfs /dev/loop2 rw\n"},
		"not staged":               {mounts: "31 1 7:2 / /pods/a/mount rw - xfs /dev/loop2 rw\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := published(parseMounts(tt.mounts), "/plugins/globalmount"); got != tt.want {
				t.Errorf("published() = %t, want %t", got, tt.want)
			}
		})
	}
}
