package disk

import (
	"hash/fnv"
	"math"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// freeOn is how many bytes this user can write to the volume that a directory is
// on, and which one that is, by its name.
func freeOn(dir string) (free int64, system uint64, known bool) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, 0, false
	}
	var available uint64
	if windows.GetDiskFreeSpaceEx(path, &available, nil, nil) != nil {
		return 0, 0, false
	}
	volume := fnv.New64a()
	_, _ = volume.Write([]byte(strings.ToLower(filepath.VolumeName(dir))))
	return int64(min(available, math.MaxInt64)), volume.Sum64(), true
}
