package disk

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// kindOf returns the type of a directory's volume.
func kindOf(dir string) string {
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(dir) + `\`)
	if err != nil {
		return ""
	}
	var name [windows.MAX_PATH + 1]uint16
	if windows.GetVolumeInformation(root, nil, 0, nil, nil, nil, &name[0], uint32(len(name))) != nil {
		return ""
	}
	return strings.ToLower(windows.UTF16ToString(name[:]))
}
