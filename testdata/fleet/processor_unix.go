//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime is how much time of processors this program has had; 0: that isn't known.
func processorTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
