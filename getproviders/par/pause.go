package par

import (
	"context"
	"time"
)

// Pause waits for d, or returns ctx's cause if ctx ends first. It is for what
// can only be asked about again and again.
func Pause(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
