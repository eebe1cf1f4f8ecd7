package providercache_test

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/tfdeps/tfdeps/getproviders"
)

// trust is a Trust and its own Authenticator.
type trust struct {
	any     getproviders.AnyHash // if there are any, one has to match
	result  getproviders.AuthenticationResult
	refuse  bool // nothing is authentic
	loadErr error

	asked atomic.Int32
}

func (t *trust) Load(context.Context) (getproviders.Authenticator, error) {
	if t.loadErr != nil {
		return nil, t.loadErr
	}
	return t, nil
}

var errRefused = errors.New("refused by the test")

func (t *trust) Authenticate(d getproviders.Digests) (getproviders.AuthenticationResult, error) {
	t.asked.Add(1)
	if t.refuse {
		return getproviders.AuthenticationResult{}, errRefused
	}
	if len(t.any) > 0 {
		return t.any.Authenticate(d)
	}
	return t.result, nil
}
