package installtest

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Trust is a loader that is its own Authenticator.
type Trust struct {
	Any     getproviders.AnyHash // if not empty, one must match
	Result  getproviders.AuthenticationResult
	Refuse  bool // Authenticate fails
	LoadErr error

	Asked atomic.Int32
}

func (t *Trust) Load(context.Context) (getproviders.Authenticator, error) {
	if t.LoadErr != nil {
		return nil, t.LoadErr
	}
	return t, nil
}

// ErrRefused is the error of a Trust with Refuse.
var ErrRefused = errors.New("refused by the test")

func (t *Trust) Authenticate(d getproviders.Digests) (getproviders.AuthenticationResult, error) {
	t.Asked.Add(1)
	if t.Refuse {
		return getproviders.AuthenticationResult{}, ErrRefused
	}
	if len(t.Any) > 0 {
		return t.Any.Authenticate(d)
	}
	return t.Result, nil
}
