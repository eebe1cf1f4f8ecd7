package download

import (
	"context"
	"errors"
	"fmt"

	"github.com/tfdeps/tfdeps/getproviders"
)

// TransferError says that an archive couldn't be had over the network, or only
// a part of it, in spite of all attempts to get the rest. It matches
// getproviders.ErrUnreachable and what the network said last.
type TransferError struct {
	Archive     string // its URL, without secrets
	Done, Total int64  // bytes; Total is -1 if unknown
	Err         error
}

// Error implements error. An Err that came before the first byte names the URL.
func (e *TransferError) Error() string {
	if e.Done == 0 && e.Total < 0 {
		return e.Err.Error()
	}
	return Incomplete(e.Archive, e.Done, e.Total, e.Err).Error()
}

// Unwrap returns getproviders.ErrUnreachable and the cause.
func (e *TransferError) Unwrap() []error { return []error{getproviders.ErrUnreachable, e.Err} }

// incomplete says how far an archive had come when something went wrong.
func Incomplete(archive string, size, total int64, err error) error {
	if total < 0 {
		return fmt.Errorf("%s: after %d bytes: %w", archive, size, err)
	}
	return fmt.Errorf("%s: after %d of %d bytes: %w", archive, size, total, err)
}

// brokenOff says how far an archive had come, unless the error does.
func BrokenOff(ctx context.Context, at getproviders.Location, size, total int64, err error) error {
	_, told := errors.AsType[*TransferError](err)
	if told || errors.Is(err, ErrRestart) || ctx.Err() != nil {
		return err
	}
	return Incomplete(at.String(), size, total, err)
}
