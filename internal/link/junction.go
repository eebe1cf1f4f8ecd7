package link

import (
	"encoding/binary"
	"unicode/utf16"
)

// mountPoint is the kind of a directory of Windows that stands for another one.
const mountPoint = 0xA0000003

// junctionData is what Windows keeps in a junction, by its documentation of REPARSE_DATA_BUFFER: the kind, the length of
// what follows the next field, and the absolute path twice, as the system and as people see it.
func junctionData(target string) []byte {
	const device = `\??\`
	paths := utf16.Encode([]rune(device + target + "\x00" + target + "\x00"))
	shown := len(paths) - 2 - len(device) // bytes: two for each unit, and the target is there twice
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
