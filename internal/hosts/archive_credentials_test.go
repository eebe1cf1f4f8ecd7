package hosts

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// jsonAnswer is a response with a document.
func jsonAnswer(req *http.Request, body string) *http.Response {
	resp := answer(req, 200, "Content-Type", "application/json")
	resp.Body = io.NopCloser(strings.NewReader(body))
	return resp
}

func TestArchiveCredentials(t *testing.T) {
	ways := map[string]string{
		"https://example.com/moved":   "https://example.com/w.zip",
		"https://example.com/away":    "https://cdn.example/w.zip",
		"https://example.com/port":    "https://example.com:8443/w.zip",
		"https://example.com/plain":   "http://example.com/w.zip",
		"https://example.com/around":  "https://cdn.example/around",
		"https://cdn.example/around":  "https://example.com/w.zip",
		"https://example.com/archive": "",
	}
	for given, told := range map[string]bool{ // whose archive it is, its URL, and whether that gets the token; no other one does
		"example.com https://example.com/archive":   true,  // of its owner
		"example.com https://api.example.org/w.zip": true,  // a service of the owner
		"example.com http://127.0.0.1/w.zip":        true,  // on loopback
		" https://example.com/archive":              false, // of nobody
		"other.example https://example.com/archive": false, // of somebody without token
		"example.com http://example.com/w.zip":      false, // over plain http
		"example.com https://example.com/moved":     true,  // redirected, same host
		"example.com https://example.com/away":      true,  // redirected, other host
		"example.com https://example.com/port":      true,  // redirected, other port
		"example.com https://example.com/plain":     true,  // redirected to plain http
		"example.com https://example.com/around":    true,  // redirected there and back
	} {
		t.Run(given, func(t *testing.T) {
			owner, at, _ := strings.Cut(given, " ")
			var got recorder
			client := WithArchiveCredentials(asking(t, 0, func(req *http.Request) *http.Response {
				if header := req.Header.Get("Authorization"); header == "Bearer hunter2" {
					got.add(req.URL.String())
				} else if header != "" {
					t.Errorf("%s got %q", req.URL, header)
				}
				return onward(req, ways)
			}), tokens{"example.com": "hunter2"})
			req := get(t, at)
			closed(t)(Do(client, req.WithContext(WithArchiveOwner(req.Context(), Hostname(owner)))))
			must.Equal(t, got.all(), map[bool]string{true: at}[told])
			if req.Header.Get("Authorization") != "" {
				t.Error("the caller's request was changed")
			}
		})
	}
}

func TestArchiveCredentials_AreSentWithEachAttempt(t *testing.T) {
	made, lost := 0, errors.New("lost")
	client := WithArchiveCredentials(newClient(t, quick(2, roundTrip(func(req *http.Request) (*http.Response, error) {
		made++
		must.Equal(t, req.Header.Get("Authorization"), "Bearer hunter2", made)
		return nil, lost
	}))), tokens{"example.com": "hunter2"})
	req := get(t, "https://example.com/w.zip")
	must.Fail(t, must.ErrorOf(Do(client, req.WithContext(WithArchiveOwner(req.Context(), "example.com")))), lost)
	must.Equal(t, made, 3)
}

func TestArchiveCredentials_LeaveOthersAlone(t *testing.T) {
	broken := errors.New("exit status 1")
	var got recorder
	client := WithArchiveCredentials(asking(t, 0, func(req *http.Request) *http.Response {
		got.add(req.Header.Get("Authorization"))
		return answer(req, 200)
	}), noTokens{broken})
	req := get(t, "https://example.com/w.zip")
	must.Get(Do(client, req))(t)
	req = req.WithContext(WithArchiveOwner(req.Context(), "example.com"))
	req.Header.Set("Authorization", "Basic mine")
	must.Get(Do(client, req))(t)
	must.Equal(t, got.all(), " Basic mine", "a request with its own header")
	req.Header.Del("Authorization")
	closed := new(atomic.Int32)
	req.Body = spyBody{strings.NewReader(""), closed}
	must.Fail(t, must.ErrorOf(Do(client, req)), broken)
	must.Equal(t, closed.Load() > 0, true)
}

func TestArchiveCredentials_OverTheDefaultClient(t *testing.T) {
	client := WithArchiveCredentials(nil, nil)
	must.Equal(t, client != http.DefaultClient && client.Transport != nil, true)
}
