//go:build !linux && !darwin && !windows

package disk

// freeOn has no implementation for this system.
func freeOn(string) (free int64, system uint64, known bool) { return 0, 0, false }
