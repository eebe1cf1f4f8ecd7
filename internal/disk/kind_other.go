//go:build !linux && !darwin && !windows

package disk

// kindOf has no implementation for this system.
func kindOf(string) string { return "" }
