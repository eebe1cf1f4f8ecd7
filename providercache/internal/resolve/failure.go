package resolve

import (
	"context"
	"errors"
	"fmt"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// Fail reports a failure as an event and returns it as a *Fault.
func Fail(ctx context.Context, emit func(context.Context, event.Event), s getproviders.Selection, err error) error {
	failure := FailureOf(ctx, s, err)
	emit(ctx, event.Event{Kind: event.Done, Outcome: event.Outcome{
		Selection: getproviders.Selection{Provider: failure.Provider, Version: failure.Version}, State: event.Failed, Err: failure,
	}})
	return failure
}

// FailureOf returns an error as a *Fault with a step. If the
// context has ended, the Fault is the cancellation instead.
func FailureOf(ctx context.Context, s getproviders.Selection, err error) *getproviders.Fault {
	failure, ok := getproviders.Failure(err)
	if !ok {
		failure = s.Failed(during.Fetch, err)
	}
	if ctx.Err() != nil {
		return getproviders.Selection{Provider: failure.Provider, Version: failure.Version}.Failed(during.Cancel, Cancelled(ctx))
	}
	return failure
}

// Cancelled returns the cause of the context's end, wrapped if it
// doesn't match the context's own error.
func Cancelled(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, ctx.Err()) {
		return cause
	}
	return fmt.Errorf("%w: %w", ctx.Err(), cause)
}

// selected is an item of work on one selection.
type selected interface{ Selected() getproviders.Selection }

// Map is par.Map for work on selections. Each failure is reported as an event when it happens and
// returned as a *Fault, including those of items that never started because ctx ended.
func Map[T selected, R any](ctx context.Context, emit func(context.Context, event.Event), limit int, items []T, do func(context.Context, T) (R, error)) ([]R, []error) {
	results, errs := par.Map(ctx, limit, items, func(ctx context.Context, item T) (R, error) {
		result, err := do(ctx, item)
		if err != nil {
			err = Fail(ctx, emit, item.Selected(), err)
		}
		return result, err
	})
	for i, err := range errs {
		if failure, _ := getproviders.Failure(err); err != nil && error(failure) != err {
			errs[i] = Fail(ctx, emit, items[i].Selected(), err)
		}
	}
	return results, errs
}

// OnPlatform returns a copy of a provider's error with the platform. The original isn't
// changed, because other goroutines may still read it as the cause of their context.
func OnPlatform(ctx context.Context, s getproviders.Selection, plat getproviders.Platform, err error) error {
	failure := *FailureOf(ctx, s, err)
	failure.Platform = plat
	return &failure
}

// AtVersionOf returns the selection with the version that its failure names.
func AtVersionOf(s getproviders.Selection, err error) getproviders.Selection {
	if failure, ok := getproviders.Failure(err); ok {
		s.Version = failure.Version
	}
	return s
}
