package main

import (
	"os"
	"syscall"
)

// peakMemory is the most memory that a process had, in bytes. It is an upper
// bound: a new process begins with the figure of the one that started it.
func peakMemory(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss << 10
}
