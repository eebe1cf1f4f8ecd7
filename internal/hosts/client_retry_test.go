package hosts

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestRetry_AsksAgainWhenThereIsHope(t *testing.T) {
	reset := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	// A status for each attempt, or "reset" for an error; the result, and the number of attempts.
	for given, want := range map[string]string{
		"GET retries=3 200":                 "200 made=1",   // success
		"GET retries=3 302":                 "302 made=1",   // redirects are answers
		"GET retries=3 404":                 "404 made=1",   // not found
		"GET retries=3 401":                 "401 made=1",   // unauthorized
		"GET retries=1 503 200":             "200 made=2",   // unavailable, then well
		"GET retries=4 500 502 504 599 200": "200 made=5",   // any 5xx
		"GET retries=3 501 200":             "501 made=1",   // not implemented stays so
		"GET retries=1 429 200":             "200 made=2",   // too many requests
		"GET retries=1 reset 200":           "200 made=2",   // connection error
		"GET retries=2 503 503 503":         "503 made=3",   // the last response is given
		"GET retries=1 503 reset":           "reset made=2", // the last error is given
		"GET retries=0 503":                 "503 made=1",   // no retries
		"GET retries=-1 503":                "503 made=1",   // fewer than none
		"HEAD retries=1 503 200":            "200 made=2",   // HEAD
		"POST retries=1 503 200":            "503 made=1",   // POST is not repeated
		"PUT retries=1 reset 200":           "reset made=1", // PUT is not repeated
	} {
		words := strings.Fields(given)
		retries := must.Get(strconv.Atoi(strings.TrimPrefix(words[1], "retries=")))(t)
		made := 0
		resp, err := newClient(t, quick(retries, roundTrip(func(req *http.Request) (*http.Response, error) {
			made++
			status, err := strconv.Atoi(words[made+1])
			if err != nil {
				return nil, reset
			}
			return answer(req, status), nil
		}))).Transport.RoundTrip(mustRequest(t, words[0], "https://example.com/"))
		if err != nil {
			must.Fail(t, err, reset, given)
			must.Equal(t, resp, nil, given)
			must.Equal(t, fmt.Sprint("reset made=", made), want, given)
			continue
		}
		must.Equal(t, fmt.Sprintf("%d made=%d", resp.StatusCode, made), want, given)
		must.Equal(t, Attempts(resp), made, given)
	}
}

func TestRetry_DoesNotRepeatWhatCannotWork(t *testing.T) {
	var handshakes atomic.Int32
	srv := startTLS(t, http.NotFound, func(srv *httptest.Server) {
		srv.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			handshakes.Add(1)
			return nil, nil
		}}
	})
	client := newClient(t, quick(3)) // which doesn't trust the server
	_, err := Do(client, get(t, srv.URL))
	must.As[*tls.CertificateVerificationError](t, err)
	must.Equal(t, handshakes.Load(), 1)
	for _, scheme := range []string{"ftp", "file"} {
		_, err := Do(client, get(t, scheme+"://example.com/x"))
		must.Fail(t, err, ErrRequest, scheme)
		must.NotContain(t, err, "attempts", scheme)
	}
}

func failing(err error) roundTrip {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

func TestRetry_TellsTheNumberOfAttempts(t *testing.T) {
	cause := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	_, err := Do(newClient(t, quick(2, failing(cause))), get(t, "https://u:pw@example.com/a?token=secret"))
	must.Fail(t, err, ErrRequest)
	must.Fail(t, err, cause)
	want := `the request failed after 3 attempts, please try again later: Get "https://example.com/a?token=REDACTED": ` + cause.Error()
	must.Equal(t, err.Error(), want)
}

// TestRetry_CountsAttemptsOfTheHopThatFails has a server whose second response is a redirect that isn't followed.
func TestRetry_CountsAttemptsOfTheHopThatFails(t *testing.T) {
	asked := 0
	opts, log := withLog(quick(2, roundTrip(func(req *http.Request) (*http.Response, error) {
		if asked++; asked == 1 {
			return nil, syscall.ECONNREFUSED
		}
		return answer(req, 302, "Location", "http://other.example/"), nil
	})), slog.LevelDebug)
	_, err := GetDocument(t.Context(), newClient(t, opts), DocumentRequest{URL: mustURL(t, "https://example.com/a")})
	must.Fail(t, err, ErrPlainHTTP)
	must.Equal(t, asked, 2)
	must.NotContain(t, err, "attempts")
	must.Contain(t, log, "attempt=2")
}

func TestRetry_KeepsTimeoutsRecognisable(t *testing.T) {
	_, err := newClient(t, quick(0, failing(&net.DNSError{Err: "i/o timeout", Name: "example.com", IsTimeout: true}))).Do(get(t, "https://example.com/"))
	must.Equal(t, must.As[*url.Error](t, err).Timeout(), true, "not a timeout")
}

func TestClient_SaysThatThereIsNoRoute(t *testing.T) {
	for _, unrouted := range []error{syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.Errno(10051), syscall.Errno(10065)} { // the numbers are of Windows
		_, err := newClient(t, quick(0, failing(&net.OpError{Op: "dial", Err: unrouted}))).Do(get(t, "https://example.com/"))
		must.Contain(t, must.As[*Fault](t, err).Hint(), "no route to example.com", unrouted)
	}
}

// spyBody records its calls.
type spyBody struct {
	io.Reader
	closed *atomic.Int32
}

func (b spyBody) Close() error { b.closed.Add(1); return nil }

func TestRetry_DrainsAndClosesTheBodiesInBetween(t *testing.T) {
	var closed atomic.Int32
	var bodies []*strings.Reader
	resp := must.Get(asking(t, 2, func(req *http.Request) *http.Response {
		resp := answer(req, 503)
		bodies = append(bodies, strings.NewReader("try later"))
		resp.Body = spyBody{bodies[len(bodies)-1], &closed}
		return resp
	}).Do(get(t, "https://example.com/")))(t)
	must.Equal(t, closed.Load(), 2)
	must.Equal(t, bodies[0].Len(), 0)
	must.Equal(t, bodies[1].Len(), 0)
	last, _ := io.ReadAll(resp.Body)
	must.Equal(t, string(last), "try later", "the last body")
	resp.Body.Close()
	must.Equal(t, closed.Load(), 3, "the last body was not closed")
}

func TestRetry_Waits(t *testing.T) {
	for name, tc := range map[string]struct {
		header        []string
		atLeast, most [2]time.Duration // of the two waits
	}{
		"longer each time":           {nil, [2]time.Duration{1e9, 2e9}, [2]time.Duration{2e9, 4e9}},
		"as long as the server says": {[]string{"Retry-After", "7"}, [2]time.Duration{7e9, 7e9}, [2]time.Duration{8e9, 8e9}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var at []time.Time
			client := newClient(t, ClientOptions{Retries: 2, Base: replies(func(req *http.Request) *http.Response {
				at = append(at, time.Now())
				return answer(req, 429, tc.header...)
			})})
			must.Get(client.Do(get(t, "https://example.com/")))(t)
			for i, atLeast := range tc.atLeast {
				if waited := at[i+1].Sub(at[i]); waited < atLeast || waited > tc.most[i] {
					t.Errorf("%s: waited %s", name, waited)
				}
			}
		})
	}
}

func TestRetry_StopsWaitingWhenTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, ClientOptions{Retries: 5, Base: replies(func(req *http.Request) *http.Response {
			return answer(req, 503, "Retry-After", "20")
		})})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(3*time.Second, cancel)
		start := time.Now()
		_, err := Do(client, get(t, "https://example.com/").WithContext(ctx))
		must.Fail(t, err, context.Canceled)
		must.Equal(t, time.Since(start), 3*time.Second)
	})
}

func TestBackoff(t *testing.T) {
	const date = "Wed, 21 Oct 2026 07:28:00 GMT"
	for _, tc := range []struct {
		name   string
		retry  int
		random float64
		resp   string // status and headers
		want   time.Duration
	}{
		{"first, shortest", 0, 0, "", 1 * time.Second},
		{"first, middle", 0, 0.5, "", 1500 * time.Millisecond},
		{"second, shortest", 1, 0, "", 2 * time.Second},
		{"fourth, shortest", 3, 0, "", 8 * time.Second},
		{"fifth is limited", 4, 0, "", 15 * time.Second},
		{"fifth is limited, with jitter", 4, 0.5, "", 22500 * time.Millisecond},
		{"no overflow", 1 << 40, 0, "", 15 * time.Second},
		{"seconds", 0, 0, "503|Retry-After|5", 5 * time.Second},
		{"seconds with jitter", 0, 0.5, "503|Retry-After|5", 5500 * time.Millisecond},
		{"zero seconds", 0, 0.25, "429|Retry-After|0", 250 * time.Millisecond},
		{"seconds beyond all limits", 0, 0.5, "503|Retry-After|18446744073709551615", 30 * time.Second},
		{"negative seconds are nonsense", 0, 0, "503|Retry-After|-5", 1 * time.Second},
		{"words are nonsense", 1, 0, "503|Retry-After|soon", 2 * time.Second},
		{"other statuses don't ask", 0, 0, "500|Retry-After|5", 1 * time.Second},
		{"date", 0, 0, "503|Date|" + date + "|Retry-After|Wed, 21 Oct 2026 07:28:12 GMT", 12 * time.Second},
		{"date in the past", 0, 0, "503|Date|" + date + "|Retry-After|Wed, 21 Oct 2026 07:00:00 GMT", 0},
		{"date beyond the limit", 0, 0, "503|Date|" + date + "|Retry-After|Wed, 21 Oct 2099 07:28:00 GMT", 30 * time.Second},
		{"date without now", 0, 0, "503|Retry-After|" + date, 1 * time.Second},
	} {
		var resp *http.Response
		if parts := strings.Split(tc.resp, "|"); len(parts) > 1 {
			resp = answer(nil, must.Get(strconv.Atoi(parts[0]))(t), parts[1:]...)
		}
		opts := ClientOptions{random: func() float64 { return tc.random }}.decided()
		must.Equal(t, opts.waitBefore(opts.RetryWaitMin, tc.retry, resp), tc.want, tc.name)
	}
}

func TestWithRetries_CountsInPlaceOfTheClients(t *testing.T) {
	for _, retries := range []int{0, 1, 4} {
		made := 0
		client := asking(t, 2, func(req *http.Request) *http.Response {
			made++
			return answer(req, 503)
		})
		req := get(t, "https://example.com/")
		resp, err := client.Transport.RoundTrip(req.WithContext(WithRetries(req.Context(), retries)))
		if err != nil || resp.StatusCode != 503 || made != retries+1 || Attempts(resp) != made {
			t.Errorf("%d retries: made %d attempts, %v", retries, made, err)
		}
	}
}
