package hosts

import (
	"net/http"
	"testing"
	"time"
)

func TestRetry_WaitIsThatOfTheClient(t *testing.T) {
	ours := newClient(t, ClientOptions{RetryWaitMin: time.Minute, RetryWaitMax: time.Hour, UserAgent: "test"})
	asks := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"1800"}}}
	for name, c := range map[string]struct {
		client         *http.Client
		retry          int
		resp           *http.Response
		atLeast, below time.Duration
	}{
		"the first":            {ours, 0, nil, time.Minute, 2 * time.Minute},
		"the third":            {ours, 2, nil, 4 * time.Minute, 8 * time.Minute},
		"as the server asks":   {ours, 0, asks, 30 * time.Minute, 31 * time.Minute},
		"with a part on top":   {WithArchiveCredentials(ours, nil), 0, nil, time.Minute, 2 * time.Minute},
		"another client":       {&http.Client{}, 0, nil, time.Second, 2 * time.Second},
		"another transport":    {&http.Client{Transport: http.DefaultTransport}, 0, nil, time.Second, 2 * time.Second},
		"no client":            {nil, 9, nil, 15 * time.Second, 31 * time.Second},
		"no longer than asked": {nil, 0, asks, 30 * time.Second, 31 * time.Second},
	} {
		if got := RetryWait(c.client, c.retry, c.resp); got < c.atLeast || got >= c.below {
			t.Errorf("%s: %v, want at least %v and less than %v", name, got, c.atLeast, c.below)
		}
	}
}
