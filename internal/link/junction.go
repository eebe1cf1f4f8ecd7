package link

import (
	"encoding/binary"
	"slices"
	"unicode/utf16"
)

// mountPoint is the kind of a directory of Windows that stands for another one.
const mountPoint = 0xA0000003

// junctionData is what Windows keeps in a junction, by its documentation of REPARSE_DATA_BUFFER: the kind, the length of
// what follows the next field, and the absolute path twice, as the system and as people see it.
func junctionData(target string) []byte {
	system, shown := utf16.Encode([]rune(`\??\`+target)), utf16.Encode([]rune(target))
	data := binary.LittleEndian.AppendUint32(nil, mountPoint)
	for _, n := range []int{8 + 2*(len(system)+len(shown)+2), 0, 0, 2 * len(system), 2 * (len(system) + 1), 2 * len(shown)} {
		data = binary.LittleEndian.AppendUint16(data, uint16(n))
	}
	for _, c := range slices.Concat(system, []uint16{0}, shown, []uint16{0}) {
		data = binary.LittleEndian.AppendUint16(data, c)
	}
	return data
}
