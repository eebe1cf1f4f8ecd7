package disk

import (
	"hash/fnv"
	"math"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// freeOn returns how many bytes this user can write to a directory's volume, and a hash of that
// volume's name.
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
