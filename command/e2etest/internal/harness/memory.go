package harness

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// PeakMemory is the most memory that a running process has had so far, in bytes; 0 where the system doesn't tell.
func PeakMemory(pid int) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(status), "\nVmHWM:")
	peak, _, _ := strings.Cut(after, " kB")
	kibibytes, _ := strconv.ParseInt(strings.TrimSpace(peak), 10, 64)
	return kibibytes << 10
}
