package receipt

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tfdeps/tfdeps/internal/must"
)

// If another machine or a user's program can write, the stat of a file proves
// nothing. On an unknown file system, changes may have the same time for longer.
func TestReceipt_FileSystemsAreTrustedByTheirKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		magic   uint32
		local   bool
		granule time.Duration
	}{
		"ext4":    {unix.EXT4_SUPER_MAGIC, true, fineGranule},
		"xfs":     {unix.XFS_SUPER_MAGIC, true, fineGranule},
		"overlay": {unix.OVERLAYFS_SUPER_MAGIC, true, fineGranule},
		"unknown": {0x12345678, true, coarseGranule},
		"nfs":     {unix.NFS_SUPER_MAGIC, false, coarseGranule},
		"cifs":    {unix.CIFS_SUPER_MAGIC, false, coarseGranule},
		"smb2":    {unix.SMB2_SUPER_MAGIC, false, coarseGranule},
		"fuse":    {unix.FUSE_SUPER_MAGIC, false, coarseGranule},
		"9p":      {unix.V9FS_MAGIC, false, coarseGranule},
		"ceph":    {unix.CEPH_SUPER_MAGIC, false, coarseGranule},
		"vfat":    {unix.MSDOS_SUPER_MAGIC, false, coarseGranule},
	} {
		local, granule := keepsChangeTimes(c.magic), granuleOf(c.magic)
		must.Equal(t, local, c.local, name)
		must.Equal(t, granule, c.granule, name)
	}
}
