//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime returns the processor time of this process, or 0 if unknown.
func processorTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
