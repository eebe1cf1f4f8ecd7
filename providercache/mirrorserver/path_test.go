package mirrorserver_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// failing is a source that is asked for valid addresses only, and never answers.
type failing struct{ t *testing.T }

func (f failing) Versions(_ context.Context, p getproviders.Provider) (getproviders.Available, error) {
	if err := p.Validate(); err != nil {
		f.t.Error(err)
	}
	return getproviders.Available{}, getproviders.ErrUnreachable
}

func (f failing) Package(_ context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, error) {
	if p.Validate() != nil || v.Validate() != nil || plat.Validate() != nil {
		f.t.Errorf("asked for %v %v %v", p, v, plat)
	}
	return getproviders.Package{}, getproviders.ErrUnreachable
}

func (failing) Describe(getproviders.Provider) string { return "none" }

func FuzzHandler_Paths(f *testing.F) {
	for _, path := range []string{dir + "index.json", archive, dir + "1.0.0.json", dir + "terraform-provider-widget_1.0.0_SHA256SUMS.sig", "/v1/providers/",
		dir + "versions", dir + "1.0.0/download/linux/amd64", host + "a/b/c/versions", host + "a/b/c/1.0.0/download"} {
		f.Add(path)
	}
	f.Fuzz(checkPath)
}

// checkPath asks for any path: the answer is that there is nothing, or that the source can't be asked, and nothing panics.
func checkPath(t *testing.T, path string) {
	server, err := mirrorserver.Handler(failing{t}, blob.NewDirectory(t.TempDir()), mirrorserver.Options{Modules: &moduleSource{err: getproviders.ErrUnreachable}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	w := httptest.NewRecorder()
	server.ServeHTTP(w, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}, Header: http.Header{}})
	if w.Code != http.StatusNotFound && w.Code != http.StatusBadGateway {
		t.Errorf("%q: %d: %s", path, w.Code, w.Body)
	}
}
