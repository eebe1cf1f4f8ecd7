package providercache

import (
	"context"
	"errors"
	"os"
	"testing"
)

var errStopped = errors.New("stopped by the test")

func contextWithCause(tb testing.TB) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(tb.Context())
	tb.Cleanup(func() { cancel(nil) })
	return ctx, cancel
}

func fileSize(tb testing.TB, path string) int64 {
	tb.Helper()
	info, err := os.Stat(path)
	if err != nil {
		tb.Fatal(err)
	}
	return info.Size()
}
