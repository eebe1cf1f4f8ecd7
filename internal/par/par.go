// Package par has this module's concurrency: bounded, with results in order and all errors kept. It
// is shared by several packages of this module; it isn't an API for others.
//
//	results, errs := par.Map(ctx, 8, items, func(ctx context.Context, item Item) (Result, error) { return work(ctx, item) })
//
// No production code outside of this package starts a goroutine or makes a channel, so these few
// functions tell whether goroutines can leak, race or be too many.
//
// All functions wait for the goroutines that they started before they return, with these
// exceptions. A call of [Memo] or [Interruptible] that no caller waits for any more is cancelled
// and ends in the background, because its last caller wanted to return at once; [Memo.Settle] waits
// for it. [Tasks] run until their owner closes them. Functions passed to this package must
// therefore obey their context. Panics in them aren't recovered.
package par

import (
	"context"
	"sync"
	"sync/atomic"
)

// Map calls f once for each item, at most limit at a time (limit < 1 means 1), starting them in the
// order of items. It returns when all calls have returned: results[i] and errs[i] belong to
// items[i]. An error of one item doesn't stop the others; when ctx is done, the remaining items
// aren't started and get the cause of ctx as their error.
func Map[T, R any](ctx context.Context, limit int, items []T, f func(context.Context, T) (R, error)) (results []R, errs []error) {
	results = make([]R, len(items))
	errs = make([]error, len(items))
	var taken atomic.Int64
	work := func() {
		for {
			i := int(taken.Add(1)) - 1
			if i >= len(items) {
				return
			}
			if ctx.Err() != nil {
				errs[i] = context.Cause(ctx)
				continue
			}
			results[i], errs[i] = f(ctx, items[i])
		}
	}
	var workers sync.WaitGroup
	for range min(max(limit, 1), len(items)) {
		workers.Go(work)
	}
	workers.Wait()
	return results, errs
}

// Together runs the functions concurrently and waits for all of them. The first error is returned,
// and cancels the context of the others as its cause.
func Together(ctx context.Context, fs ...func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		all   sync.WaitGroup
		once  sync.Once
		first error
	)
	for _, f := range fs {
		all.Go(func() {
			if err := f(ctx); err != nil {
				once.Do(func() {
					first = err
					cancel(err)
				})
			}
		})
	}
	all.Wait()
	return first
}
