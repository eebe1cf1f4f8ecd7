package receipt

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// timesOf returns fields that systems name differently; times are in nanoseconds since 1970.
func timesOf(sys *syscall.Stat_t) (modified, changed int64, device uint64) {
	return syscall.TimespecToNsec(sys.Mtim), syscall.TimespecToNsec(sys.Ctim), uint64(sys.Dev)
}

// Magic numbers that x/sys/unix has no names for.
const (
	magicBeeGFS    = 0x19830326
	magicGFS2      = 0x01161970
	magicGPFS      = 0x47504653
	magicHGFS      = 0xbacbacbc
	magicLustre    = 0x0bd00bd0
	magicOrange    = 0x20030528
	magicParallels = 0x7c7c6670
	magicVBoxSF    = 0x786f4256
	magicWSL       = 0x53464846
)

// fileSystemOf returns the file system of a path.
//
// An overlay doesn't tell its layers. Its upper layer can't be on a network, and its
// lower layers must not change while it is mounted, so it counts as local.
func fileSystemOf(path string) (fileSystem, error) {
	var stat unix.Statfs_t
	for {
		err := unix.Statfs(path, &stat)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return fileSystem{}, &os.PathError{Op: "statfs", Path: path, Err: err}
		}
	}
	magic := uint32(stat.Type)
	return fileSystem{ID: stableID(magic, stat.Fsid.Val), Local: keepsChangeTimes(magic), Granule: granuleOf(magic)}, nil
}

// stableID returns the kind of a file system and, if the kernel derives it from the disk's content,
// its ID. XFS derives it from the device number, and an overlay has a new one for each mount.
func stableID(magic uint32, id [2]int32) string {
	switch magic {
	case unix.EXT4_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC:
		return fmt.Sprintf("%x:%08x%08x", magic, uint32(id[0]), uint32(id[1]))
	default:
		return fmt.Sprintf("%x", magic)
	}
}

// keepsChangeTimes is false for file systems that other machines or programs can
// change, and for those whose ctime is just the mtime, which everybody can set.
func keepsChangeTimes(magic uint32) bool {
	switch magic {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC,
		unix.FUSE_SUPER_MAGIC, unix.V9FS_MAGIC, unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.CODA_SUPER_MAGIC,
		unix.NCP_SUPER_MAGIC, unix.OCFS2_SUPER_MAGIC, magicBeeGFS, unix.CEPH_SUPER_MAGIC, magicGFS2, magicGPFS, magicHGFS, magicLustre,
		magicOrange, magicParallels, magicVBoxSF, magicWSL,
		unix.MSDOS_SUPER_MAGIC, unix.EXFAT_SUPER_MAGIC:
		return false
	default:
		return true
	}
}

func granuleOf(magic uint32) time.Duration {
	switch magic {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC:
		return fineGranule
	default:
		return coarseGranule
	}
}
