package hosts

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Discovery has as many retries and the same backoff as in Terraform, which retries other requests
// less often.
const (
	patientRetries = 3
	patientWaitMin = 100 * time.Millisecond
)

// patientKey marks the context of a request with at least that many retries.
type patientKey struct{}

func patiently(ctx context.Context) context.Context {
	return context.WithValue(ctx, patientKey{}, true)
}

// retriesKey has the number of retries of a request.
type retriesKey struct{}

// WithRetries returns a context whose requests are retried up to that often after temporary errors,
// in place of the client's ClientOptions.Retries; 0 means never.
func WithRetries(ctx context.Context, retries int) context.Context {
	return context.WithValue(ctx, retriesKey{}, retries)
}

// HasRetries reports whether a context has retries of WithRetries.
func HasRetries(ctx context.Context) bool { return ctx.Value(retriesKey{}) != nil }

// worthARetry is the library's policy, except for a malformed redirect and a private address, which the library
// mistakes for failed connections.
func worthARetry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	if err != nil && (errors.Is(WithoutURL(err), errBadLocation) || errors.Is(err, ErrPrivateAddress)) {
		return false, nil
	}
	return retryablehttp.DefaultRetryPolicy(ctx, resp, err)
}

// retried sends an idempotent request again after temporary errors.
func retried(opts *ClientOptions, req *http.Request, next send) (*http.Response, error) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead && req.Method != "" {
		return next(req)
	}
	if req.Context().Value(attemptsKey{}) == nil {
		req = req.WithContext(context.WithValue(req.Context(), attemptsKey{}, new(int)))
	}
	counted, err := retryablehttp.FromRequest(req)
	if err != nil {
		return nil, err
	}
	resp, err := retrying(opts, req, next).Do(counted)
	if err != nil {
		if resp != nil {
			resp.Body.Close()
		}
		return nil, WithoutURL(err)
	}
	return resp, nil
}

// retrying returns the library's client for one request, with the retries and backoff of that request.
func retrying(opts *ClientOptions, req *http.Request, next send) *retryablehttp.Client {
	retries, shortest := max(opts.Retries, 0), opts.RetryWaitMin
	if asked, ok := req.Context().Value(retriesKey{}).(int); ok {
		retries = max(asked, 0)
	} else if req.Context().Value(patientKey{}) != nil {
		retries, shortest = max(retries, patientRetries), min(shortest, patientWaitMin)
	}
	var last error
	return &retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport: attempt(next),
			// A redirect is an answer here: the outer client follows it.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryMax:     retries,
		RetryWaitMin: shortest,
		RetryWaitMax: opts.RetryWaitMax,
		CheckRetry: func(ctx context.Context, resp *http.Response, err error) (bool, error) {
			last = err
			return worthARetry(ctx, resp, err)
		},
		Backoff: func(shortest, _ time.Duration, n int, resp *http.Response) time.Duration {
			pause := opts.waitBefore(shortest, n, resp)
			if opts.OnRetry != nil {
				opts.OnRetry(Retry{Host: req.URL.Host, Attempt: n + 2, Attempts: retries + 1, Wait: pause, Reason: RetryReason(resp, last)})
			}
			return pause
		},
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// attempt counts attempts. It also hides the next part's CloseIdleConnections: retryablehttp calls
// that after each final failure, which would close connections that other requests are about to
// use.
type attempt send

// RoundTrip implements http.RoundTripper.
func (a attempt) RoundTrip(req *http.Request) (*http.Response, error) {
	if n, ok := req.Context().Value(attemptsKey{}).(*int); ok {
		*n++
	}
	return a(req)
}

// attemptsKey has the number of attempts of the last hop, a *int. Only the goroutine that sends the
// request writes it.
type attemptsKey struct{}

// attemptsOf returns the number of the current attempt of a request.
func attemptsOf(ctx context.Context) int {
	if n, ok := ctx.Value(attemptsKey{}).(*int); ok {
		return max(*n, 1)
	}
	return 1
}

// errBadLocation replaces net/http's error about the Location of a redirect, which has the header's
// value: it may be a signed URL, or one with a password.
var errBadLocation = errors.New("the answer redirects to something that is not a URL")

// errBadPort replaces package url's error, which quotes the port.
var errBadPort = errors.New("its port is not a number")

// WithoutURL removes the wrapper of package url and http.Client, which has the whole URL, and perhaps a secret. What
// package url takes for a port may be a password.
func WithoutURL(err error) error {
	u, ok := errors.AsType[*url.Error](err)
	switch {
	case !ok:
		return err
	case strings.HasPrefix(u.Err.Error(), "failed to parse Location header"):
		return errBadLocation
	case strings.HasPrefix(u.Err.Error(), "invalid port "):
		return errBadPort
	default:
		return u.Err
	}
}

// waitBefore returns the wait before a retry (0 is the first): a random duration between shortest
// and twice that, doubled for each further retry; or Retry-After and up to shortest more, so that
// clients that were refused at the same time don't come back at the same time. It is never more
// than RetryWaitMax.
func (o *ClientOptions) waitBefore(shortest time.Duration, retry int, resp *http.Response) time.Duration {
	if asked, ok := retryAfter(resp, o.RetryWaitMax); ok {
		return min(o.RetryWaitMax, asked+time.Duration(o.random()*float64(shortest)))
	}
	ceiling := retryablehttp.DefaultBackoff(shortest, o.RetryWaitMax, retry+1, nil)
	return ceiling/2 + time.Duration(o.random()*float64(ceiling/2))
}

// retryAfter reads Retry-After in a 429 or 503 response. A date is relative to the response's own
// Date, independent of this machine's clock.
func retryAfter(resp *http.Response, longest time.Duration) (time.Duration, bool) {
	if resp == nil || resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return 0, false
	}
	text := resp.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil {
		if seconds > uint64(longest/time.Second) {
			return longest, true
		}
		return time.Duration(seconds) * time.Second, true
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	now, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return 0, false
	}
	return min(longest, max(0, until.Sub(now))), true
}

// RetryWait returns how long to wait before a retry outside of the client, such as for the rest of
// a body that broke off. retry is 0 for the first one; resp is the answer that made it necessary,
// or nil: its Retry-After is respected. For clients that aren't from NewClient the zero
// ClientOptions apply.
func RetryWait(client *http.Client, retry int, resp *http.Response) time.Duration {
	opts := optionsOf(client)
	return opts.waitBefore(opts.RetryWaitMin, retry, resp)
}

// optionsOf returns the options of a client of NewClient, or the zero ClientOptions for other clients.
func optionsOf(client *http.Client) ClientOptions {
	var part http.RoundTripper
	if client != nil {
		part = client.Transport
	}
	for {
		switch at := part.(type) {
		case *stack:
			return at.opts
		case *upper:
			part = at.next
		default:
			return ClientOptions{}.decided()
		}
	}
}
