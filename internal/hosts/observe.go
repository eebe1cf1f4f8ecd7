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
	return onTop(client, func(next layer) http.RoundTripper { return &observed{layer: next, now: now, observe: observe} })
}

type observed struct {
	layer
	now     func() time.Time
	observe func(Exchange)
}

// RoundTrip implements http.RoundTripper.
func (o *observed) RoundTrip(req *http.Request) (*http.Response, error) {
	begun := o.now()
	resp, err := o.next.RoundTrip(req)
	done := Exchange{Host: req.URL.Host, Took: o.now().Sub(begun)}
	if err == nil {
		done.Status = resp.StatusCode
	}
	o.observe(done)
	return resp, err
}
