package view

import (
	"fmt"
	"time"
)

// megabytes is a number of bytes in the units of disks and networks, which are
// powers of ten.
func megabytes(n int64) string {
	switch {
	case n < 1e6:
		return fmt.Sprintf("%d kB", (n+999)/1000)
	case n < 10e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n < 1e9:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	default:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
}

// howFar says how much of a total has come; total is -1 if unknown.
func howFar(done, total int64) string {
	if total <= 0 {
		return megabytes(done)
	}
	return fmt.Sprintf("%s of %s (%.0f%%)", megabytes(done), megabytes(total), 100*float64(done)/float64(total))
}

// mebibytes is the same as howFar for bars, which count in powers of two and
// have little room.
func mebibytes(done, total int64) string {
	unit, size := "MiB", float64(1<<20)
	if max(done, total) >= 1<<30 {
		unit, size = "GiB", 1<<30
	}
	if total < 0 {
		return fmt.Sprintf("%.1f %s", float64(done)/size, unit)
	}
	return fmt.Sprintf("%.1f/%.1f %s", float64(done)/size, float64(total)/size, unit)
}

// perSecond is a speed; 0 if it isn't known.
func perSecond(n int64, took time.Duration) int64 {
	if took <= 0 || n <= 0 {
		return 0
	}
	return int64(float64(n) / took.Seconds())
}

// seconds is how long something took, as exactly as anybody wants to know.
func seconds(took time.Duration) string {
	switch {
	case took < time.Second:
		return fmt.Sprintf("%dms", max(took, 0).Milliseconds())
	case took < time.Minute:
		return fmt.Sprintf("%.1fs", took.Truncate(time.Second/10).Seconds())
	default:
		return took.Round(time.Second).String()
	}
}
