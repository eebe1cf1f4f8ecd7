package getproviders

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

const zipName = "terraform-provider-widget_1.0.0_linux_amd64.zip"

// widget is the provider of most tests.
var (
	widget = Provider{Hostname: "registry.example", Namespace: "acme", Type: "widget"}
	v1     = MustParseVersion("1.0.0")
)

// packageOf requests widget 1.0.0.
func packageOf(t *testing.T, source Source) (Package, error) {
	return source.Package(t.Context(), widget, v1, linux)
}

func versionsOf(t *testing.T, source Source) (Available, error) {
	return source.Versions(t.Context(), widget)
}

// pages maps paths or URLs to responses: a body, or a status with a body or a redirect's target. Others get a 404.
type pages map[string]string

func (p pages) serve(w http.ResponseWriter, at string) {
	text, ok := p[at]
	if !ok {
		text = "404"
	}
	first, rest, _ := strings.Cut(text, " ")
	status, err := strconv.Atoi(first)
	switch {
	case err != nil || status < 200:
		status, rest = http.StatusOK, text
		if strings.HasSuffix(at, ".json") {
			w.Header().Set("Content-Type", "application/json")
		}
	case status == http.StatusFound:
		w.Header().Set("Location", rest)
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(rest))
}

// fakeRegistry sends responses that no good registry sends.
type fakeRegistry struct {
	*httptest.Server
	answers pages

	mu   sync.Mutex
	seen []*http.Request
}

func newFakeRegistry(t *testing.T, answers pages) *fakeRegistry {
	t.Helper()
	fake := &fakeRegistry{answers: answers}
	fake.Server = httptest.NewServer(fake)
	t.Cleanup(fake.Close)
	return fake
}

// ServeHTTP implements http.Handler.
func (f *fakeRegistry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	f.mu.Lock()
	f.seen = append(f.seen, req)
	f.mu.Unlock()
	f.answers.serve(w, req.URL.Path)
}

// inProcess calls a handler without a network: under the clock of synctest, nothing may wait for
// one.
type inProcess struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (h inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, req)
	resp := answer.Result()
	resp.Request = req
	return resp, nil
}

// requests returns the number of requests for a path.
func (f *fakeRegistry) requests(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, req := range f.seen {
		if req.URL.Path == path {
			n++
		}
	}
	return n
}

// source returns a source that uses the fake, at the path /v1/, as the registry of widget and of
// the default host.
func (f *fakeRegistry) source(t *testing.T) *RegistrySource {
	t.Helper()
	return f.sourceAt(t, f.URL+"/v1/")
}

func (f *fakeRegistry) sourceAt(t *testing.T, base string) *RegistrySource {
	t.Helper()
	client := must.Get(hosts.NewClient(hosts.ClientOptions{Retries: 1, RetryWaitMin: time.Millisecond}))(t)
	t.Cleanup(client.CloseIdleConnections)
	services := map[string]string{"providers.v1": base}
	return &RegistrySource{
		Client: client,
		Discovery: &hosts.Discovery{
			Client: client,
			Forced: map[hosts.Hostname]map[string]string{
				widget.Hostname:           services,
				Terraform("").DefaultHost: services,
				"empty.example":           {},
			},
		},
		Product: terraform,
	}
}

// versions parses versions.
func versions(texts ...string) []Version {
	var all []Version
	for _, text := range texts {
		all = append(all, MustParseVersion(text))
	}
	return all
}

// hint returns the hint of an error.
func hint(err error) string {
	if refused, ok := errors.AsType[*hosts.Refusal](err); ok {
		return refused.Hint()
	}
	if discovery, ok := errors.AsType[*hosts.Fault](err); ok && discovery.Host != "" {
		return discovery.Hint()
	}
	if f, ok := err.(*Fault); ok {
		return f.Hint
	}
	return ""
}
