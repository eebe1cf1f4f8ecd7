package providercache_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

func TestInstall_FromARegistry(t *testing.T) {
	t.Parallel()
	registry, in := newRegistry(t, "a", "b", "c")
	host, discoveries := registry.Host(), 1
	if runtime.GOOS == "windows" { // which has no directory for a host with a port
		host, discoveries = registryHost, 0
	}
	locks, report := install(t, in, require(host+"/acme/a", "", host+"/acme/b", "~> 1.0", host+"/acme/c", ""), nil)
	must.Len(t, report.Incomplete, 0)
	for _, o := range report.Outcomes {
		lock, _ := locks.Provider(o.Selection.Provider)
		must.Equal(t, o.Authentication.TrustLevel, getproviders.LevelCommunity, o.Selection.Provider)
		must.Len(t, lock.Hashes, 2, o.Selection.Provider)
	}
	for kind, want := range map[string]int{"discovery": discoveries, "versions": 3, "package": 3, "sums": 3, "signature": 3, "archive": 3, "HEAD": 0, "": 15 + discoveries} {
		must.Equal(t, registry.Requests(kind), want, kind)
	}
	for _, req := range registry.Log() {
		if req.Kind == "archive" && (req.Header.Get("Accept-Encoding") != "identity" || req.Header.Get("Authorization") != "") {
			t.Errorf("an archive was asked for with %v", req.Header)
		}
	}
}

func TestInstall_SaysWhatIsWrongWithADownload(t *testing.T) {
	t.Parallel()
	changed := func(b []byte) []byte { return append(bytes.Clone(b[:len(b)-1]), b[len(b)-1]^1) }
	for name, c := range map[string]struct {
		kind  string
		fault fault
		step  string
		is    error
		text  string
	}{
		"cut":           {"archive", fault{CutAfter: 100, NoRange: true}, during.Fetch, getproviders.ErrUnreachable, "after 100 of "},
		"forbidden":     {"archive", fault{Status: 403}, during.Fetch, getproviders.ErrUnauthorized, "403 Forbidden"},
		"gone":          {"archive", fault{Status: 404}, during.Fetch, getproviders.ErrUnreachable, "404 Not Found"},
		"other success": {"archive", fault{Status: 206}, during.Authenticate, getproviders.ErrAuthentication, "checksum"},
		"a part":        {"archive", fault{Status: 206, Header: http.Header{"Content-Range": {"bytes 0-15/100"}}}, during.Fetch, getproviders.ErrUnreachable, "206 Partial Content"},
		"redirects":     {"archive", fault{Redirect: "/files/acme/widget/1.0.0/terraform-provider-widget_1.0.0_linux_amd64.zip"}, during.Fetch, getproviders.ErrUnreachable, "redirects"},
		"elsewhere":     {"archive", fault{Redirect: "https://localhost:1/?token=secret"}, during.Fetch, getproviders.ErrUnreachable, "refused"},
		"encoded":       {"archive", fault{Header: http.Header{"Content-Encoding": {"br"}}}, during.Fetch, nil, `"br"`},
		"wrong bytes":   {"archive", fault{Body: changed}, during.Authenticate, getproviders.ErrAuthentication, "checksum"},
		"a web page":    {"archive", fault{Body: func([]byte) []byte { return []byte("<html>") }}, during.Authenticate, getproviders.ErrAuthentication, "a web page in place of the archive"},
		"no sums":       {"sums", fault{Status: 500}, during.Authenticate, getproviders.ErrUnreachable, "500"},
		"no signature":  {"signature", fault{Status: 404}, during.Authenticate, nil, "404"},
		"bad signature": {"signature", fault{Body: changed}, during.Authenticate, getproviders.ErrAuthentication, "signature"},
		"missing line":  {"sums", fault{Body: func([]byte) []byte { return nil }}, during.Authenticate, getproviders.ErrAuthentication, "checksum list"},
		"no metadata":   {"package", fault{Status: 500}, during.Metadata, getproviders.ErrUnreachable, "500"},
		"no versions":   {"versions", fault{Status: 401}, during.Query, getproviders.ErrUnauthorized, ""},
		"no discovery":  {"discovery", fault{Status: 500}, during.Query, getproviders.ErrUnreachable, "500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registry, in := newRegistry(t, "widget")
			registry.Break(c.kind, c.fault)
			address := registryHost + "/acme/widget"
			if c.kind == "discovery" {
				address = registry.Host() + "/acme/widget"
			}
			locks, _, err := in.Install(t.Context(), require(address, ""), nil, providercache.Normal)
			failure, ok := getproviders.Failure(err)
			if !ok || failure.Step != c.step || failure.Provider != provider(address) || locks != nil {
				t.Fatalf("got %v, %v; want an error in step %s", locks, err, c.step)
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v doesn't match %v", err, c.is)
			}
			must.Contain(t, err, c.text)
			must.NotContain(t, err.Error(), "secret")
			nothingLeft(t, in)
		})
	}
}

// lying is a transport that gives a wrong length of a body. Servers of net/http can't do that.
type lying struct {
	body   string
	length int64
}

func (l lying) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Request: req, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(l.body)), ContentLength: l.length,
	}, nil
}

func TestInstall_ComparesTheLengthOfABody(t *testing.T) {
	t.Parallel()
	content := string(zipOf(t, map[string]string{"terraform-provider-widget": "x"}))
	for name, c := range map[string]struct {
		transport lying
		limits    providercache.Limits
		is        error // nil: no error
	}{
		"right":               {transport: lying{content, int64(len(content))}},
		"unknown":             {transport: lying{content, -1}},
		"shorter":             {transport: lying{content, int64(len(content)) + 1}, is: io.ErrUnexpectedEOF},
		"longer":              {transport: lying{content, int64(len(content)) - 1}, is: io.ErrUnexpectedEOF},
		"too large":           {transport: lying{content, int64(len(content))}, limits: providercache.Limits{PackageBytes: 10}, is: hosts.ErrTooLarge},
		"too large, secretly": {transport: lying{content, -1}, limits: providercache.Limits{PackageBytes: 10}, is: hosts.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := newSource(t)
			source.Add("acme/widget", "1.0.0", httpArchive(t, "https://example.com/widget.zip?signature=secret"))
			in := newInstaller(t, source)
			in.Fetcher.Client, in.Fetcher.Limits = impatient(t, c.transport), c.limits
			err := attempt(t, in, widgets, nil)
			must.Fail(t, err, c.is)
			if c.is != nil {
				must.NotContain(t, err.Error(), "secret")
				must.Contain(t, err, "example.com/widget.zip")
				nothingLeft(t, in)
			}
		})
	}
}

func TestInstall_FromPlacesThatAreNoArchives(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, location := range map[string]getproviders.Location{
		"a directory as archive":  getproviders.LocalArchive(dir),
		"no URL":                  getproviders.HTTPArchive{},
		"nothing":                 nil,
		"a directory, missing":    getproviders.LocalDirectory(filepath.Join(dir, "missing")),
		"a directory, empty":      getproviders.LocalDirectory(dir),
		"an archive, missing":     getproviders.LocalArchive(filepath.Join(dir, "missing.zip")),
		"another scheme than web": httpArchive(t, "ftp://example.com/widget.zip"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := newSource(t)
			source.Add("acme/widget", "1.0.0", location)
			in := newInstaller(t, source)
			err := attempt(t, in, widgets, nil)
			if failure, ok := getproviders.Failure(err); !ok || failure.Step != during.Fetch {
				t.Errorf("got %v, want an error in step fetch", err)
			}
			nothingLeft(t, in)
		})
	}
}
