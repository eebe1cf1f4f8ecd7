package hosts

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/hashicorp/go-retryablehttp"
)

// retry sends idempotent requests again when there is hope.
type retry struct {
	layer
	client *retryablehttp.Client
}

func newRetry(next http.RoundTripper, retries int, wait backoff) *retry {
	return &retry{layer{next}, &retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport: attempt{next},
			// A redirect is an answer here: the client on top follows it.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryMax:     max(retries, 0),
		RetryWaitMin: wait.shortest,
		RetryWaitMax: wait.longest,
		CheckRetry:   worthARetry,
		Backoff:      wait.before,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}}
}

// worthARetry is the library's policy, but for a redirect to nowhere: it takes
// that for a connection that failed.
func worthARetry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	if err != nil && errors.Is(withoutURL(err), errBadLocation) {
		return false, nil
	}
	return retryablehttp.DefaultRetryPolicy(ctx, resp, err)
}

// RoundTrip implements http.RoundTripper.
func (r *retry) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead && req.Method != "" {
		return r.next.RoundTrip(req)
	}
	made := new(int)
	counted, err := retryablehttp.FromRequest(req.WithContext(context.WithValue(req.Context(), attemptsKey{}, made)))
	if err != nil {
		return nil, err
	}
	resp, err := r.client.Do(counted)
	if err != nil {
		if resp != nil {
			resp.Body.Close()
		}
		return nil, &attemptsError{*made, withoutURL(err)}
	}
	return resp, nil
}

// attempt counts. It also hides the CloseIdleConnections method of what is
// below: retryablehttp calls it after each final failure, and would close
// connections that other requests are about to use.
type attempt struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (a attempt) RoundTrip(req *http.Request) (*http.Response, error) {
	if n, ok := req.Context().Value(attemptsKey{}).(*int); ok {
		*n++
	}
	return a.next.RoundTrip(req)
}

// attemptsKey finds the number of attempts in a request's context. It is
// written only while RoundTrip runs, by the goroutine that runs it.
type attemptsKey struct{}

// attemptsOf returns the number of the attempt that a request is part of.
func attemptsOf(ctx context.Context) int {
	if n, ok := ctx.Value(attemptsKey{}).(*int); ok {
		return *n
	}
	return 1
}

// attemptsError carries the number of attempts up to Do; its text is the
// cause's.
type attemptsError struct {
	attempts int
	err      error
}

func (e *attemptsError) Error() string { return e.err.Error() }
func (e *attemptsError) Unwrap() error { return e.err }

// Timeout keeps url.Error's method of that name working, which doesn't unwrap.
func (e *attemptsError) Timeout() bool {
	var t interface{ Timeout() bool }
	return errors.As(e.err, &t) && t.Timeout()
}

// errBadLocation stands for net/http's error about the Location of a redirect,
// which repeats the header: a signed URL, or one with a password.
var errBadLocation = errors.New("the answer redirects to something that is not a URL")

// withoutURL takes off the wrapper in which http.Client tells the whole URL.
func withoutURL(err error) error {
	u, ok := errors.AsType[*url.Error](err)
	switch {
	case !ok:
		return err
	case strings.HasPrefix(u.Err.Error(), "failed to parse Location header"):
		return errBadLocation
	default:
		return u.Err
	}
}
