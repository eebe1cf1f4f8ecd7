package hosts

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestRetryReason(t *testing.T) {
	for _, tt := range []struct {
		resp *http.Response
		err  error
		want string
	}{
		{&http.Response{Status: "503 Service Unavailable"}, nil, "503 Service Unavailable"},
		{nil, context.DeadlineExceeded, "timeout"},
		{nil, &Fault{Err: os.ErrDeadlineExceeded}, "timeout"},
		{nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "connection refused"},
		{nil, &net.OpError{Op: "dial", Err: syscall.Errno(10061)}, "connection refused"}, // by Windows
		{nil, &net.DNSError{Err: "no such host", Name: "example.com"}, "host not found"},
		{nil, io.ErrUnexpectedEOF, "connection lost"},
		{nil, errors.New("https://example.com/?token=secret went wrong"), "connection failed"},
		{nil, nil, "no answer"},
	} {
		must.Equal(t, RetryReason(tt.resp, tt.err), tt.want, tt.resp, tt.err)
	}
}

func TestClient_TellsOfRetries(t *testing.T) {
	failures := 2
	var told []Retry
	opts := quick(3, replies(func(req *http.Request) *http.Response {
		resp := answer(req, 200)
		if failures--; failures >= 0 {
			resp.StatusCode, resp.Status = 502, "502 Bad Gateway"
		}
		return resp
	}))
	opts.OnRetry = func(r Retry) { told = append(told, r) }
	client := newClient(t, opts)
	closed(t)(client.Do(get(t, "https://example.com/")))
	must.Len(t, told, 2)
	for i, r := range told {
		want := Retry{Host: "example.com", Attempt: i + 2, Attempts: 4, Wait: r.Wait, Reason: "502 Bad Gateway"}
		if r != want || r.Wait <= 0 {
			t.Errorf("told %+v, want %+v", r, want)
		}
	}
	AnnounceRetry(t.Context(), client, Retry{Host: "x"})
	AnnounceRetry(t.Context(), http.DefaultClient, Retry{Host: "y"})
	must.Len(t, told, 3)
	must.Equal(t, told[2].Host, "x")
}
