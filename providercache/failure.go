package providercache

import (
	"context"
	"errors"
	"fmt"

	"github.com/tfdeps/tfdeps/getproviders/par"
)

// failed names the provider and the step for an error.
func (s Selection) failed(step Step, err error) error {
	return &ProviderError{Provider: s.Provider, Version: s.Version, Step: step, Err: err}
}

// fail tells the observer of a failure and returns it as a *ProviderError.
func (f *Fetcher) fail(ctx context.Context, s Selection, err error) error {
	failure := failureOf(ctx, s, err)
	f.emit(ctx, Failed{Provider: failure.Provider, Err: failure})
	return failure
}

// failureOf returns an error as a *ProviderError. Whatever goes wrong after
// the context has ended goes wrong because of that.
func failureOf(ctx context.Context, s Selection, err error) *ProviderError {
	failure, ok := errors.AsType[*ProviderError](err)
	if !ok {
		failure = &ProviderError{Provider: s.Provider, Version: s.Version, Step: StepFetch, Err: err}
	}
	if ctx.Err() != nil {
		failure.Step, failure.Err = StepCancel, cancelled(ctx)
	}
	return failure
}

// cancelled returns the cause of the context's end, made to match the
// context's error too.
func cancelled(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, ctx.Err()) {
		return cause
	}
	return fmt.Errorf("%w: %w", ctx.Err(), cause)
}

// selected is whatever stands for the work on one selection.
type selected interface{ selection() Selection }

func (s Selection) selection() Selection { return s }

// mapTold is par.Map for the work on selections. Each failure is told when it
// happens and comes as a *ProviderError, those of selections that were never
// begun because ctx ended included.
func mapTold[T selected, R any](ctx context.Context, f *Fetcher, limit int, items []T, do func(context.Context, T) (R, error)) ([]R, []error) {
	results, errs := par.Map(ctx, limit, items, func(ctx context.Context, item T) (R, error) {
		result, err := do(ctx, item)
		if err != nil {
			err = f.fail(ctx, item.selection(), err)
		}
		return result, err
	})
	for i, err := range errs {
		if _, told := err.(*ProviderError); err != nil && !told {
			errs[i] = f.fail(ctx, items[i].selection(), err)
		}
	}
	return results, errs
}

// failedOutcome is the outcome of a selection that came to nothing.
func failedOutcome(s Selection, err error) Outcome {
	if failure, ok := errors.AsType[*ProviderError](err); ok {
		s.Version = failure.Version
	}
	return Outcome{Selection: s, Err: err}
}
