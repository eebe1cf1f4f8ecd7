package mirrorserver_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// failing is an unreachable source. Asking it for an invalid address fails the test.
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

func (failing) Describe(getproviders.Provider) getproviders.Description {
	return getproviders.Description{Name: "none"}
}

// TestHandler_HasOnePathForEachThing has other spellings of a path that there is: none is answered, so that none is
// kept, or allowed, in place of another.
func TestHandler_HasOnePathForEachThing(t *testing.T) {
	m := newMirroring(t)
	server := m.start()
	server.found(dir + "index.json")
	const at = string(providertest.Host)
	for _, path := range []string{
		"/" + at + "%2facme/widget/index.json", "/" + at + "/acme%2Fwidget/index.json", "/" + at + "/acme/widget%5cindex.json", "/" + at + "/acme/widget/index%2Ejson", "/" + at + "/acme/%2e%2e/index.json",
		"/" + at + "%252facme/widget/index.json", "/" + strings.ToUpper(at) + "/acme/widget/index.json", "/" + at + "./acme/widget/index.json", "/" + at + ":443/acme/widget/index.json",
		"/" + at + "/Acme/widget/index.json", "/" + at + "/acme/widget/../widget/index.json", "/" + at + "//acme/widget/index.json", "//" + at + "/acme/widget/index.json", "/" + at + "/acme/widget/1.0.json",
		"/" + at + "/acme/widget/v1.0.0.json", "/" + at + "/acme/widget/1.0.0+x.json/", "/" + at + "/acme/widget/index.json%00",
	} {
		must.Equal(t, server.get(path).StatusCode, http.StatusNotFound, path)
	}
	must.Equal(t, m.registry.Requests("versions"), 1)
}

// TestHandler_LooksAtNoHost has requests name other hosts as those that were asked: no answer has them in it, so that
// none that is kept leads there.
func TestHandler_LooksAtNoHost(t *testing.T) {
	m := newMirroring(t)
	server := m.start()
	for _, path := range []string{dir + "index.json", dir + "1.0.0.json", dir + "versions", dir + "1.0.0/download/linux/amd64", "/nothing", "/v1/providers/x"} {
		ask := func(host string) (answered, string) {
			req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, server.front.URL+path, nil))(t)
			req.Host = host
			for _, name := range []string{"X-Forwarded-Host", "X-Original-Url", "X-Rewrite-Url", "Forwarded"} {
				req.Header.Set(name, "host="+host+"/x")
			}
			resp := must.Get(server.front.Client().Do(req))(t)
			defer resp.Body.Close()
			body := must.Get(io.ReadAll(resp.Body))(t)
			return answered{resp, body, nil}, string(body) + resp.Header.Get("Location")
		}
		one, text := ask("evil.example")
		other, same := ask("mirror.example.com")
		must.Equal(t, text, same, path)
		must.NotContain(t, text, "evil", path)
		must.Equal(t, one.StatusCode, other.StatusCode, path)
	}
}

func FuzzHandler_Paths(f *testing.F) {
	for _, path := range []string{dir + "index.json", archive, dir + "1.0.0.json", dir + "terraform-provider-widget_1.0.0_SHA256SUMS.sig", "/v1/providers/",
		dir + "versions", dir + "1.0.0/download/linux/amd64", host + "a/b/c/versions", host + "a/b/c/1.0.0/download"} {
		f.Add(path)
	}
	f.Fuzz(checkPath)
}

// unsourced asks a server whose sources answer nothing.
func unsourced(t *testing.T, bucket blob.Bucket) func(path string) *httptest.ResponseRecorder {
	server := must.Get(mirrorserver.Handler(&providercache.Fetcher{Source: failing{t}}, bucket, mirrorserver.Options{Modules: &moduleSource{err: getproviders.ErrUnreachable}}))(t)
	t.Cleanup(server.Close)
	return func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		server.ServeHTTP(w, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}, Header: http.Header{}})
		return w
	}
}

// checkPath requests any path: the answer is 404, or that the source can't be asked, and nothing panics.
func checkPath(t *testing.T, path string) {
	w := unsourced(t, blob.NewDirectory(t.TempDir()))(path)
	if w.Code != http.StatusNotFound && w.Code != http.StatusBadGateway {
		t.Errorf("%q: %d: %s", path, w.Code, w.Body)
	}
}

// records is a bucket whose records about a provider and a module have a given content. It waits for no disk.
type records struct {
	blob.Bucket
	content []byte
}

func (r records) Get(ctx context.Context, key string, opts blob.GetOptions) (*blob.Object, error) {
	switch key {
	case "providers" + dir + "versions.json", "providers" + dir + "1.0.0/packages.json", "modules" + dir + "aws/versions.json", "modules" + dir + "aws/1.0.0/location.json":
		return &blob.Object{Info: blob.Info{Key: key, Size: int64(len(r.content)), Tag: "x"}, Body: io.NopCloser(bytes.NewReader(r.content))}, nil
	default:
		return r.Bucket.Get(ctx, key, opts)
	}
}

// FuzzHandler_Records fills the server's records in the bucket with anything: the
// server uses them, or ignores them, and no answer leads elsewhere.
func FuzzHandler_Records(f *testing.F) {
	asked := `{"asked":"2999-01-01T00:00:00Z","value":`
	f.Add([]byte(asked+`{"versions":["1.0.0"],"warnings":["x"],"details":[{"versions":["1.0.0"],"platforms":["linux_amd64"]}]}}`), "index.json")
	f.Add([]byte(asked+`{"packages":{"linux_amd64":{"hashes":["zh:0000000000000000000000000000000000000000000000000000000000000000"]}},"protocols":"5.0","signed":{"sums":"eA==","signature":"","keys":[]}}}`), "1.0.0.json")
	f.Add([]byte(asked+`{"packages":{"../x":{}}}}`), "1.0.0/download/linux/amd64")
	f.Add([]byte(asked+`["1.0.0","../x"]}`), "versions")
	f.Add([]byte(asked+`"https://x\r\nSet-Cookie: y"}`), "1.0.0/download")
	f.Fuzz(func(t *testing.T, content []byte, name string) {
		bucket := records{blob.NewDirectory(t.TempDir()), content}
		ask := unsourced(t, bucket)
		for _, path := range []string{dir + name, dir + "aws/" + name} {
			w := ask(path)
			if location := w.Header().Get("Location"); location != "" || w.Code < 200 || w.Code == 500 {
				t.Errorf("%s: %d, to %q", path, w.Code, location)
			}
		}
	})
}
