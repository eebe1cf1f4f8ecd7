package bucket

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// fake is a server that records requests.
type fake struct {
	*providertest.Server
	mu       sync.Mutex
	requests []*http.Request
}

// newFake starts a fake; the handler makes the answers.
func newFake(t *testing.T, handler http.HandlerFunc) *fake {
	t.Helper()
	f := &fake{}
	server := must.Get(providertest.NewServer(providertest.ServerOptions{Plain: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests = append(f.requests, r)
		f.mu.Unlock()
		handler(w, r)
	})}))(t)
	t.Cleanup(server.Close)
	f.Server = server
	return f
}

// last is the last request.
func (f *fake) last(t *testing.T) *http.Request {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.requests) == 0 {
		t.Fatal("there was no request")
	}
	return f.requests[len(f.requests)-1]
}

// open opens an address, and closes it when the test ends.
func open(t *testing.T, s *Services, kind, address string) (Objects, error) {
	t.Helper()
	u, err := url.Parse(address)
	must.Succeed(t, err)
	objects, err := s.Open(t.Context(), kind, u, true)
	if err == nil {
		t.Cleanup(objects.Close)
	}
	return objects, err
}

// read returns the content of the object at an address.
func read(t *testing.T, s *Services, kind, address string) (string, error) {
	t.Helper()
	objects, err := open(t, s, kind, address)
	if err != nil {
		return "", err
	}
	return readKey(t.Context(), objects, objects.Key)
}

func readKey(ctx context.Context, objects Objects, key string) (string, error) {
	body, err := objects.Read(ctx, key)
	if err != nil {
		return "", err
	}
	defer body.Close()
	content, err := io.ReadAll(body)
	return string(content), err
}

// wantKeys compares the keys of a prefix.
func wantKeys(t *testing.T, s *Services, kind, address string, want ...string) {
	t.Helper()
	objects := must.Get(open(t, s, kind, address))(t)
	var got []string
	for key, err := range objects.Keys(t.Context()) {
		must.Succeed(t, err)
		got = append(got, key)
	}
	must.EqualSlices(t, got, want, address)
}
