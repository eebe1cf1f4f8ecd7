package harness

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// PeakMemory returns the peak resident memory of a running process in bytes, or 0 if the system doesn't report it.
func PeakMemory(pid int) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(status), "\nVmHWM:")
	peak, _, _ := strings.Cut(after, " kB")
	kibibytes, _ := strconv.ParseInt(strings.TrimSpace(peak), 10, 64)
	return kibibytes << 10
}
