package bucket

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// newFake starts a server with a handler.
func newFake(t *testing.T, handler http.HandlerFunc) *providertest.Server {
	t.Helper()
	server := must.Get(providertest.NewServer(providertest.ServerOptions{Plain: true, Handler: handler}))(t)
	t.Cleanup(server.Close)
	return server
}

// last is the header of the last request.
func last(log []providertest.Request) http.Header { return log[len(log)-1].Header }

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
