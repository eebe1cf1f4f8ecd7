package subprocess

// InForeground returns true: a console sends its interrupts to all of its processes.
func InForeground() bool { return true }
