package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// watchMemory looks at a process until stop is called, which returns the most
// memory that it has had, in bytes. What the system says of a process that has ended is no
// use: that figure begins with the one of the process that started it.
func watchMemory(pid int) (stop func() int64) {
	ended, result := make(chan struct{}), make(chan int64)
	go func() {
		var most int64
		ticks := time.NewTicker(5 * time.Millisecond)
		defer ticks.Stop()
		for {
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			_, after, _ := strings.Cut(string(status), "\nVmHWM:")
			peak, _, _ := strings.Cut(after, " kB")
			kibibytes, _ := strconv.ParseInt(strings.TrimSpace(peak), 10, 64)
			most = max(most, kibibytes<<10)
			select {
			case <-ended:
				result <- most
				return
			case <-ticks.C:
			}
		}
	}()
	return func() int64 { close(ended); return <-result }
}
