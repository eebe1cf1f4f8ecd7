// Package par is where this module's goroutines live: bounded, with results
// in order, and with every error kept. It is shared by several packages of this
// module, and is no API for others.
//
//	results, errs := par.Map(ctx, 8, items, func(ctx context.Context, item Item) (Result, error) { return work(ctx, item) })
//
// Nothing outside this package starts a goroutine or makes a channel in
// production code, so that "can it leak, can it race, is it bounded" is
// answered by reading these few functions.
//
// All of them wait for what they started before they return, with three exceptions. A [Memo] call
// that no caller waits for any more is cancelled and left to end by itself, because its last caller
// wanted to leave at once; [Memo.Settle] waits for it. [Tasks] go on until their owner closes them.
// Functions given to this package must therefore obey their
// context. A panic in one of them is not caught.
package par

import (
	"context"
	"sync"
	"sync/atomic"
)

// Map calls f once for each item, at most limit at a time (limit < 1 means
// one), starting them in the order of items. It returns when all calls have
// returned: results[i] and errs[i] belong to items[i]. An error of one item
// doesn't stop the others; when ctx is done, items that haven't started are
// not started and get ctx's cause as their error.
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

// Together runs the functions at the same time and waits for all of them. The
// first error cancels the context of the others, as its cause, and is
// returned.
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
