package link

import (
	"encoding/binary"
	"unicode/utf16"
)

// mountPoint is the reparse tag of junctions (IO_REPARSE_TAG_MOUNT_POINT).
const mountPoint = 0xA0000003

// junctionData returns the REPARSE_DATA_BUFFER of a junction, as Windows documents it: the tag, the length of the data,
// and the absolute path twice, as the system's name and as the shown one.
func junctionData(target string) []byte {
	const device = `\??\`
	paths := utf16.Encode([]rune(device + target + "\x00" + target + "\x00"))
	shown := len(paths) - 2 - len(device) // in bytes: two for each UTF-16 unit, and the target is in paths twice
	system := shown + 2*len(device)
	data := binary.LittleEndian.AppendUint32(nil, mountPoint)
	for _, n := range []int{8 + 2*len(paths), 0, 0, system, system + 2, shown} {
		data = binary.LittleEndian.AppendUint16(data, uint16(n))
	}
	for _, c := range paths {
		data = binary.LittleEndian.AppendUint16(data, c)
	}
	return data
}
