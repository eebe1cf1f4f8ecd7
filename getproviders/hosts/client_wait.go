package hosts

import (
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// RetryWait returns how long to wait before something is tried again which the
// client's own retries don't cover: asking for the rest of a body that broke
// off. retry is 0 for the first one, resp is the answer that made it necessary,
// if there was one: its Retry-After is honoured. For a client that isn't of
// NewClient it is what the zero ClientOptions mean.
func RetryWait(client *http.Client, retry int, resp *http.Response) time.Duration {
	policy := policyOf(client)
	return policy.Backoff(policy.RetryWaitMin, policy.RetryWaitMax, retry, resp)
}

// policyOf finds the retries in a client's stack.
func policyOf(client *http.Client) *retryablehttp.Client {
	var part http.RoundTripper
	if client != nil {
		part = client.Transport
	}
	for part != nil {
		if r, ok := part.(*retry); ok {
			return r.client
		}
		upper, ok := part.(interface{ below() http.RoundTripper })
		if !ok {
			break
		}
		part = upper.below()
	}
	return newRetry(nil, 0, newBackoff(ClientOptions{})).client
}
