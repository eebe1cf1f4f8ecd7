package hosts

import (
	"net/http"
	"time"
)

// Exchange is a request with the status of its answer.
type Exchange struct {
	Host   string        // of the URL, with its port
	Status int           // of the answer; 0 without one
	Took   time.Duration // until the answer's header or the error, including retries and their waits
}

// WithObserver returns a copy of a client that calls observe for each request when its answer
// begins: a redirect is a request of its own. Many goroutines call observe.
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
