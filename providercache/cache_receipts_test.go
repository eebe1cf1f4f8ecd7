package providercache_test

import (
	"runtime"
	"testing"
)

// needsReceipts skips a test where the status of files proves nothing, or where there are no file
// locks.
func needsReceipts(tb testing.TB) {
	tb.Helper()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		tb.Skip("packages are hashed each time on this system")
	}
}
