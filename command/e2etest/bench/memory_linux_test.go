package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// watchMemory looks at a process until stop is called, which returns the most
// memory that it has had. What the system says of a process that has ended is no
// use: that figure begins with the one of the process that started it.
func watchMemory(pid int) (stop func() memory) {
	ended, result := make(chan struct{}), make(chan memory)
	go func() {
		var most memory
		ticks := time.NewTicker(5 * time.Millisecond)
		defer ticks.Stop()
		for {
			most = most.max(memoryOf(pid))
			select {
			case <-ended:
				result <- most
				return
			case <-ticks.C:
			}
		}
	}()
	return func() memory { close(ended); return <-result }
}

// memoryOf returns what a process has now, and the most that it has had in all.
func memoryOf(pid int) (m memory) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		kibibytes, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmHWM":
			m.peak = kibibytes << 10
		case "RssAnon":
			m.own = kibibytes << 10
		case "RssFile":
			m.program = kibibytes << 10
		}
	}
	return m
}
