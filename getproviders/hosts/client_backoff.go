package hosts

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// backoff decides how long to wait before a retry.
type backoff struct {
	shortest, longest time.Duration
	random            func() float64 // from 0 up to, but not including, 1
}

func newBackoff(opts ClientOptions) backoff {
	return backoff{
		shortest: orDefault(opts.RetryWaitMin, defaultRetryWaitMin),
		longest:  orDefault(opts.RetryWaitMax, defaultRetryWaitMax),
		random:   rand.Float64,
	}
}

// before returns the wait before a retry (0 is the first): a random duration
// between shortest and twice that, doubled for each further retry; or what
// the server asked for and up to shortest more, so that clients which were turned
// away together don't come back together. It is never more than longest.
func (b backoff) before(shortest, longest time.Duration, retry int, resp *http.Response) time.Duration {
	if asked, ok := retryAfter(resp, longest); ok {
		return min(longest, asked+time.Duration(b.random()*float64(shortest)))
	}
	ceiling := shortest
	for i := 0; i <= retry && ceiling < longest; i++ {
		ceiling *= 2
	}
	ceiling = min(ceiling, longest)
	return ceiling/2 + time.Duration(b.random()*float64(ceiling/2))
}

// retryAfter reads the header of that name in a 429 or 503 response. A date
// counts from the response's own Date, so that this machine's clock doesn't matter.
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
