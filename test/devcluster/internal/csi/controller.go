// SPDX-License-Identifier: Apache-2.0

package csi

import (
	"context"
	"errors"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/volume"
)

// TopologyKey is the node label that says where a volume can be used.
const TopologyKey = "topology.loop.csi.keelson.dev/node"

// Controller makes, grows and deletes volumes.
type Controller struct {
	csi.UnimplementedControllerServer

	Store volume.Store
}

// CreateVolume makes a volume on the node that the scheduler chose.
func (c *Controller) CreateVolume(ctx context.Context, r *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	if err := checkCapabilities(r.GetVolumeCapabilities()); err != nil {
		return nil, err
	}
	node := nodeOf(r.GetAccessibilityRequirements())
	if node == "" {
		return nil, status.Error(codes.InvalidArgument, "no node was chosen: the StorageClass needs volumeBindingMode WaitForFirstConsumer")
	}
	if r.GetVolumeContentSource() != nil {
		return nil, status.Error(codes.InvalidArgument, "volumes cannot be made from snapshots or other volumes")
	}
	backend := volume.Backend(r.GetParameters()["backend"])
	if backend != volume.Loop && backend != volume.Directory {
		return nil, status.Errorf(codes.InvalidArgument, "StorageClass parameter backend is %q: use loop or directory", backend)
	}
	size, err := volume.Size(r.GetCapacityRange().GetRequiredBytes(), r.GetCapacityRange().GetLimitBytes())
	if err != nil {
		return nil, status.Error(codes.OutOfRange, err.Error())
	}
	want := volume.Volume{ID: r.GetName(), Node: node, Backend: backend, Size: size}
	if backend == volume.Loop {
		want.Filesystem = filesystem(r.GetVolumeCapabilities())
	}
	v, err := c.Store.Create(ctx, want)
	if err != nil {
		return nil, asStatus(err)
	}
	return &csi.CreateVolumeResponse{Volume: &csi.Volume{
		VolumeId: v.ID, CapacityBytes: v.Size,
		AccessibleTopology: []*csi.Topology{{Segments: map[string]string{TopologyKey: v.Node}}},
	}}, nil
}

// DeleteVolume removes a volume and its content.
func (c *Controller) DeleteVolume(_ context.Context, r *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	if err := c.Store.Delete(r.GetVolumeId()); err != nil {
		return nil, asStatus(err)
	}
	return &csi.DeleteVolumeResponse{}, nil
}

// ControllerExpandVolume makes the disk larger; the node makes the file system follow while it is in use.
func (c *Controller) ControllerExpandVolume(_ context.Context, r *csi.ControllerExpandVolumeRequest) (*csi.ControllerExpandVolumeResponse, error) {
	size, err := volume.Size(r.GetCapacityRange().GetRequiredBytes(), r.GetCapacityRange().GetLimitBytes())
	if err != nil {
		return nil, status.Error(codes.OutOfRange, err.Error())
	}
	v, err := c.Store.Grow(r.GetVolumeId(), size)
	if err != nil {
		return nil, asStatus(err)
	}
	return &csi.ControllerExpandVolumeResponse{CapacityBytes: v.Size, NodeExpansionRequired: v.Backend == volume.Loop}, nil
}

// ValidateVolumeCapabilities says whether a volume can be used in a certain way.
func (c *Controller) ValidateVolumeCapabilities(_ context.Context, r *csi.ValidateVolumeCapabilitiesRequest) (*csi.ValidateVolumeCapabilitiesResponse, error) {
	if _, err := c.Store.Get(r.GetVolumeId()); err != nil {
		return nil, asStatus(err)
	}
	if err := checkCapabilities(r.GetVolumeCapabilities()); err != nil {
		return &csi.ValidateVolumeCapabilitiesResponse{Message: err.Error()}, nil //nolint:nilerr // "No" is an answer here.
	}
	confirmed := &csi.ValidateVolumeCapabilitiesResponse_Confirmed{VolumeCapabilities: r.GetVolumeCapabilities()}
	return &csi.ValidateVolumeCapabilitiesResponse{Confirmed: confirmed}, nil
}

// ControllerGetCapabilities lists what the controller can do. Telling apart one writer on a node from several is what
// makes ReadWriteOncePod work.
func (c *Controller) ControllerGetCapabilities(context.Context, *csi.ControllerGetCapabilitiesRequest) (*csi.ControllerGetCapabilitiesResponse, error) {
	var capabilities []*csi.ControllerServiceCapability
	for _, kind := range []csi.ControllerServiceCapability_RPC_Type{
		csi.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME,
		csi.ControllerServiceCapability_RPC_EXPAND_VOLUME,
		csi.ControllerServiceCapability_RPC_SINGLE_NODE_MULTI_WRITER,
	} {
		rpc := &csi.ControllerServiceCapability_Rpc{Rpc: &csi.ControllerServiceCapability_RPC{Type: kind}}
		capabilities = append(capabilities, &csi.ControllerServiceCapability{Type: rpc})
	}
	return &csi.ControllerGetCapabilitiesResponse{Capabilities: capabilities}, nil
}

func checkCapabilities(capabilities []*csi.VolumeCapability) error {
	if len(capabilities) == 0 {
		return status.Error(codes.InvalidArgument, "no volume capability was asked for")
	}
	for _, c := range capabilities {
		if c.GetBlock() != nil {
			return status.Error(codes.InvalidArgument, "block volumes are not supported")
		}
		if fs := volume.Filesystem(c.GetMount().GetFsType()); fs != "" && fs != volume.XFS && fs != volume.Ext4 {
			return status.Errorf(codes.InvalidArgument, "file system %s is not supported: use xfs or ext4", fs)
		}
		if !singleNode(c.GetAccessMode().GetMode()) {
			return status.Error(codes.InvalidArgument, "a volume belongs to one node: use ReadWriteOnce or ReadWriteOncePod")
		}
	}
	return nil
}

// filesystem is the one that the claim's StorageClass asks for.
func filesystem(capabilities []*csi.VolumeCapability) volume.Filesystem {
	for _, c := range capabilities {
		if fs := c.GetMount().GetFsType(); fs != "" {
			return volume.Filesystem(fs)
		}
	}
	return volume.XFS
}

func singleNode(mode csi.VolumeCapability_AccessMode_Mode) bool {
	return slices.Contains([]csi.VolumeCapability_AccessMode_Mode{
		csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER, csi.VolumeCapability_AccessMode_SINGLE_NODE_READER_ONLY,
		csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER, csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER,
	}, mode)
}

func nodeOf(r *csi.TopologyRequirement) string {
	for _, list := range [][]*csi.Topology{r.GetPreferred(), r.GetRequisite()} {
		for _, topology := range list {
			if node := topology.GetSegments()[TopologyKey]; node != "" {
				return node
			}
		}
	}
	return ""
}

func asStatus(err error) error {
	switch {
	case errors.Is(err, volume.ErrNotFound):
		return status.Error(codes.NotFound, err.Error())
	case errors.Is(err, volume.ErrConflict):
		return status.Error(codes.AlreadyExists, err.Error())
	case errors.Is(err, volume.ErrName):
		return status.Error(codes.InvalidArgument, err.Error())
	default:
		return status.Error(codes.Internal, err.Error())
	}
}
