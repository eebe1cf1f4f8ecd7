package hosts

import (
	"net/http"
	"time"
)

// Exchange is a request, and how it was answered.
type Exchange struct {
	Host   string        // of the URL, with its port
	Status int           // of the answer; 0: there was none
	Took   time.Duration // until the header of the answer was there, or there was none, retries and what is waited between them included
}

// WithObserver returns a client that does what the given one does, and tells of each request when
// its answer begins: a redirect is a request of its own. Observe is called from many goroutines.
func WithObserver(client *http.Client, now func() time.Time, observe func(Exchange)) *http.Client {
	return onTop(client, func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
		begun := now()
		resp, err := next.RoundTrip(req)
		done := Exchange{Host: req.URL.Host, Took: now().Sub(begun)}
		if err == nil {
			done.Status = resp.StatusCode
		}
		observe(done)
		return resp, err
	})
}
