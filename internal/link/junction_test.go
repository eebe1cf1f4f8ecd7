package link

import (
	"encoding/hex"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// The bytes are put together by hand from Microsoft's description of REPARSE_DATA_BUFFER for mount points.
func TestJunctionData_IsWhatWindowsReads(t *testing.T) {
	const want = "030000a0" + // IO_REPARSE_TAG_MOUNT_POINT
		"2000" + "0000" + // 32 bytes follow the next field, which is reserved
		"0000" + "0e00" + // the system's path: where, and how many bytes
		"1000" + "0600" + // the shown path
		"5c003f003f005c0043003a00e400" + "0000" + // \??\C:ä
		"43003a00e400" + "0000"
	must.Equal(t, hex.EncodeToString(junctionData("C:ä")), want)
}
