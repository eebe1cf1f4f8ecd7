package mirrorserver_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// dripping is a body that arrives a thousand bytes at a time.
type dripping struct {
	io.Reader
	pause time.Duration
}

func (d dripping) Read(p []byte) (int, error) {
	time.Sleep(d.pause)
	return d.Reader.Read(p[:min(len(p), 1000)])
}

// spoken is a source without network: a network would wait for a clock that the test doesn't move.
type spoken struct {
	content []byte
	zh      getproviders.Hash
	open    func(content []byte) io.Reader
	silent  bool // answers nothing
	leases  int  // how often the server has taken or renewed one
}

func (s *spoken) wait(ctx context.Context) error {
	if s.silent {
		<-ctx.Done()
	}
	return context.Cause(ctx)
}

func (s *spoken) Versions(ctx context.Context, _ getproviders.Provider) (getproviders.Available, error) {
	return getproviders.Available{Versions: []getproviders.Version{getproviders.MustParseVersion("1.0.0")}}, s.wait(ctx)
}

func (s *spoken) Package(ctx context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, error) {
	pkg := getproviders.Package{Provider: p, Version: v, Platform: plat, Location: s, Trust: getproviders.TrustedBy(getproviders.AnyHash{s.zh})}
	return pkg, s.wait(ctx)
}

func (s *spoken) Describe(getproviders.Provider) getproviders.Description {
	return getproviders.Description{Name: "what is known by heart"}
}
func (s *spoken) String() string { return "by heart" }

func (s *spoken) Open(context.Context, int64) (getproviders.OpenedArchive, error) {
	return getproviders.OpenedArchive{Body: io.NopCloser(s.open(s.content)), Size: int64(len(s.content))}, nil
}

// inBubble runs a server of such a source in a bubble, whose clock jumps
// when all goroutines wait. ask sends requests without a network.
func inBubble(t *testing.T, do func(t *testing.T, source *spoken, ask func(path string) *httptest.ResponseRecorder)) {
	source := &spoken{content: contentOf("large", "1.0.0", linux), open: func(content []byte) io.Reader { return bytes.NewReader(content) }}
	_, source.zh = hashesOf(t, source.content)
	bucket, temporary := &installtest.Hooked{Bucket: blob.NewDirectory(t.TempDir())}, t.TempDir()
	bucket.Before = func(_ context.Context, c installtest.Call) error {
		if c.Op == "put" && strings.HasSuffix(c.Key, ".lease") {
			switch source.leases++; {
			case source.leases > 20:
				return blob.ErrChanged
			case source.leases == 10:
				return errExpired
			}
		}
		return nil
	}
	synctest.Test(t, func(t *testing.T) {
		server := must.Get(mirrorserver.Handler(&providercache.Fetcher{Source: source}, bucket, mirrorserver.Options{Temporary: temporary}))(t)
		defer server.Close()
		do(t, source, func(path string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			server.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			return w
		})
	})
}

// TestHandler_WaitsForSlowArchives: an archive that takes more than an hour arrives, and is stored. The lease is renewed, also after a failure, until it is lost.
func TestHandler_WaitsForSlowArchives(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, source *spoken, ask func(string) *httptest.ResponseRecorder) {
		source.open = func(content []byte) io.Reader { return dripping{bytes.NewReader(content), 20 * time.Second} }
		for i, least := range []time.Duration{time.Hour, 0} {
			begun := time.Now()
			got := ask(large)
			if took := time.Since(begun); got.Code != http.StatusOK || !bytes.Equal(got.Body.Bytes(), source.content) || took < least {
				t.Errorf("%d: %d, %d bytes in %s", i, got.Code, got.Body.Len(), took)
			}
			synctest.Wait() // until it is stored
			source.open = nil
		}
		must.Equal(t, source.leases, 21)
	})
}

// TestHandler_DoesNotWaitForASilentSource: if there is an older answer, it is used when a
// source doesn't answer for a while, and the source isn't asked again for some time.
func TestHandler_DoesNotWaitForASilentSource(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, source *spoken, ask func(string) *httptest.ResponseRecorder) {
		paths := []string{host + "acme/large/index.json", host + "acme/large/1.0.0.json", large}
		for _, path := range paths {
			ask(path)
		}
		synctest.Wait()
		time.Sleep(48 * time.Hour)
		source.silent = true
		for _, least := range []time.Duration{time.Second, 0} {
			begun := time.Now()
			for _, path := range paths {
				must.Equal(t, ask(path).Code, http.StatusOK, path)
			}
			if took := time.Since(begun); took < least || took > time.Minute || least == 0 && took > 0 {
				t.Errorf("clients wait for %s", took)
			}
		}
	})
}
