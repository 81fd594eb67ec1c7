// SPDX-License-Identifier: Apache-2.0

package csi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/command"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/host"
	"github.com/keelson-dev/mysql-operator/test/devcluster/internal/volume"
)

// Node mounts volumes in one node.
type Node struct {
	csi.UnimplementedNodeServer

	Name  string
	Store volume.Store
}

// NodeStageVolume mounts a volume at the place that all pods of the node share. The kernel detaches the loop device
// by itself when the mount goes, also when the whole node dies.
func (n *Node) NodeStageVolume(ctx context.Context, r *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
	v, err := n.own(r.GetVolumeId())
	if err != nil {
		return nil, err
	}
	target := r.GetStagingTargetPath()
	if mounted(target) {
		return &csi.NodeStageVolumeResponse{}, nil
	}
	if err := os.MkdirAll(target, 0o750); err != nil {
		return nil, asStatus(fmt.Errorf("create staging folder: %w", err))
	}
	if v.Backend == volume.Directory {
		if err := unix.Mount(n.Store.Folder(v.ID), target, "", unix.MS_BIND, ""); err != nil {
			return nil, asStatus(fmt.Errorf("bind volume: %w", err))
		}
		return &csi.NodeStageVolumeResponse{}, nil
	}
	if err := command.Run(ctx, "mount", "-t", string(v.Filesystem), "-o", "loop,noatime", n.Store.Image(v.ID), target); err != nil {
		return nil, asStatus(fmt.Errorf("mount volume: %w", err))
	}
	// The disk may have grown while it was not mounted.
	if err := n.growFilesystem(ctx, v, target); err != nil {
		return nil, asStatus(err)
	}
	return &csi.NodeStageVolumeResponse{}, nil
}

// NodeUnstageVolume unmounts a volume from the node.
func (n *Node) NodeUnstageVolume(_ context.Context, r *csi.NodeUnstageVolumeRequest) (*csi.NodeUnstageVolumeResponse, error) {
	if err := unmount(r.GetStagingTargetPath()); err != nil {
		return nil, asStatus(err)
	}
	return &csi.NodeUnstageVolumeResponse{}, nil
}

// NodePublishVolume shows a volume to one pod.
func (n *Node) NodePublishVolume(_ context.Context, r *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	v, err := n.own(r.GetVolumeId())
	if err != nil {
		return nil, err
	}
	target := r.GetTargetPath()
	if mounted(target) {
		return &csi.NodePublishVolumeResponse{}, nil
	}
	if r.GetVolumeCapability().GetAccessMode().GetMode() == csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER && published(mounts(), r.GetStagingTargetPath()) {
		return nil, status.Errorf(codes.FailedPrecondition, "volume %s is in use by another pod", v.ID)
	}
	if err := os.MkdirAll(target, 0o750); err != nil {
		return nil, asStatus(fmt.Errorf("create mount point: %w", err))
	}
	if err := unix.Mount(r.GetStagingTargetPath(), target, "", unix.MS_BIND, ""); err != nil {
		return nil, asStatus(fmt.Errorf("bind volume: %w", err))
	}
	if r.GetReadonly() {
		if err := unix.Mount("", target, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
			return nil, asStatus(fmt.Errorf("make volume read-only: %w", err))
		}
	}
	return &csi.NodePublishVolumeResponse{}, nil
}

// NodeUnpublishVolume hides a volume from a pod.
func (n *Node) NodeUnpublishVolume(_ context.Context, r *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	if err := unmount(r.GetTargetPath()); err != nil {
		return nil, asStatus(err)
	}
	if err := os.Remove(r.GetTargetPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, asStatus(fmt.Errorf("remove mount point: %w", err))
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

// NodeExpandVolume makes the file system as large as the disk, while it is in use.
func (n *Node) NodeExpandVolume(ctx context.Context, r *csi.NodeExpandVolumeRequest) (*csi.NodeExpandVolumeResponse, error) {
	v, err := n.own(r.GetVolumeId())
	if err != nil {
		return nil, err
	}
	if v.Backend == volume.Loop {
		if err := n.growFilesystem(ctx, v, r.GetVolumePath()); err != nil {
			return nil, asStatus(err)
		}
	}
	return &csi.NodeExpandVolumeResponse{CapacityBytes: v.Size}, nil
}

// NodeGetVolumeStats says how full a volume is.
func (n *Node) NodeGetVolumeStats(_ context.Context, r *csi.NodeGetVolumeStatsRequest) (*csi.NodeGetVolumeStatsResponse, error) {
	if !mounted(r.GetVolumePath()) {
		return nil, status.Errorf(codes.NotFound, "nothing is mounted at %s", r.GetVolumePath())
	}
	var s unix.Statfs_t
	if err := unix.Statfs(r.GetVolumePath(), &s); err != nil {
		return nil, asStatus(fmt.Errorf("read size of file system: %w", err))
	}
	block := s.Bsize
	return &csi.NodeGetVolumeStatsResponse{Usage: []*csi.VolumeUsage{
		{
			Unit: csi.VolumeUsage_BYTES, Total: int64(s.Blocks) * block, Available: int64(s.Bavail) * block,
			Used: int64(s.Blocks-s.Bfree) * block,
		},
		{Unit: csi.VolumeUsage_INODES, Total: int64(s.Files), Available: int64(s.Ffree), Used: int64(s.Files - s.Ffree)},
	}}, nil
}

// NodeGetInfo tells the kubelet which volumes can be used here.
func (n *Node) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{
		NodeId: n.Name, AccessibleTopology: &csi.Topology{Segments: map[string]string{TopologyKey: n.Name}},
	}, nil
}

// NodeGetCapabilities lists what the node service can do.
func (n *Node) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	var capabilities []*csi.NodeServiceCapability
	for _, kind := range []csi.NodeServiceCapability_RPC_Type{
		csi.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME,
		csi.NodeServiceCapability_RPC_EXPAND_VOLUME,
		csi.NodeServiceCapability_RPC_GET_VOLUME_STATS,
		csi.NodeServiceCapability_RPC_SINGLE_NODE_MULTI_WRITER,
	} {
		rpc := &csi.NodeServiceCapability_Rpc{Rpc: &csi.NodeServiceCapability_RPC{Type: kind}}
		capabilities = append(capabilities, &csi.NodeServiceCapability{Type: rpc})
	}
	return &csi.NodeGetCapabilitiesResponse{Capabilities: capabilities}, nil
}

// own returns a volume of this node. Mounting a file system on two nodes at once would destroy it.
func (n *Node) own(id string) (volume.Volume, error) {
	v, err := n.Store.Get(id)
	if err != nil {
		return volume.Volume{}, asStatus(err)
	}
	if v.Node != n.Name {
		return volume.Volume{}, status.Errorf(codes.FailedPrecondition, "volume %s belongs to %s", id, v.Node)
	}
	return v, nil
}

func (n *Node) growFilesystem(ctx context.Context, v volume.Volume, path string) error {
	loops, err := host.Loops(filepath.Join(n.Store.Dir, v.ID))
	if err != nil {
		return err
	}
	if len(loops) == 0 {
		return fmt.Errorf("find loop device of %s: %w", v.ID, fs.ErrNotExist)
	}
	return v.GrowMounted(ctx, loops[0].Device, path)
}
