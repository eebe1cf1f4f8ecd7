package mirror_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// onWeb is a remote behind a web server, below /base, and the server's URL.
func onWeb(t *testing.T, handler http.HandlerFunc) (web remote.Remote, at string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client := server.Client()
	t.Cleanup(client.CloseIdleConnections)
	return mirror.OnWeb(client, must.Get(url.Parse(server.URL+"/base/"))(t)), server.URL
}

func TestOnWeb_PullsFromBehindAServer(t *testing.T) {
	t.Parallel()
	from, dir := newMachine(t), t.TempDir()
	w, later := from.add("a", small("a")), from.add("b", small("b"))
	must.Get(from.push(mirror.InBucket(blob.NewDirectory(dir)), w))(t)
	status, asked, encoding := 0, []string{}, ""
	web, _ := onWeb(t, func(rw http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.Header.Get("Range")+r.Header.Get("Accept-Encoding"))
		if encoding != "" {
			rw.Header().Set("Content-Encoding", encoding)
		}
		if status != 0 {
			rw.WriteHeader(status)
			return
		}
		http.StripPrefix("/base", http.FileServer(http.Dir(dir))).ServeHTTP(rw, r)
	})
	to := newMachine(t)
	if _, err := to.pull(web, w); err != nil || strings.Join(asked, ",") != "GET identity" {
		t.Fatalf("%v; asked: %q", err, asked)
	}
	must.EqualSlices(t, to.packages(), from.packages()[:3])
	n := remote.Name{Provider: w.Provider, Version: w.Version, Platform: linux, H1: w.Hashes[0]}
	archive := must.Get(web.At(n))(t)
	rest := must.Get(archive.Open(t.Context(), 10))(t)
	text, err := io.ReadAll(rest.Body)
	succeed(t, errors.Join(err, rest.Body.Close()))
	must.Equal(t, rest.Offset, 10)
	must.Equal(t, int64(len(text)), rest.Size-10)
	if all, err := archive.Open(t.Context(), 1<<20); err != nil || all.Offset != 0 || all.Body.Close() != nil {
		t.Errorf("past the end: %+v, %v", all, err)
	}
	must.Equal(t, must.Get(newMachine(t).pull(web, later))(t)[0].State, event.Absent)
	there, err := archive.Exists(t.Context())
	if err != nil || !there {
		t.Errorf("%v, %v", there, err)
	}
	must.Contain(t, archive.Put(t.Context(), nil), "push them to the bucket or the registry behind it")
	status, asked = http.StatusRequestedRangeNotSatisfiable, nil // of each request, also of one for everything
	if _, err := archive.Open(t.Context(), 10); err == nil || !strings.Contains(err.Error(), "the server answers 416") || len(asked) != 2 {
		t.Errorf("%v, after %d requests", err, len(asked))
	}
	for status = range map[int]bool{http.StatusForbidden: true, http.StatusInternalServerError: true} {
		if _, err = archive.Exists(t.Context()); err == nil || errors.Is(err, getproviders.ErrUnauthorized) != (status == http.StatusForbidden) {
			t.Errorf("%d: %v", status, err)
		}
	}
	status, encoding = 0, "gzip"
	if _, err = archive.Open(t.Context(), 0); err == nil || !strings.Contains(err.Error(), `encoded the archive as "gzip"`) {
		t.Errorf("%v", err)
	}
}

// TestOnWeb_TakesForbiddenForAbsent has a server that answers 403 for
// missing objects, and then one that answers 403 to every request.
func TestOnWeb_TakesForbiddenForAbsent(t *testing.T) {
	t.Parallel()
	from, dir := newMachine(t), t.TempDir()
	w, later := from.add("a", small("a")), from.add("b", small("b"))
	must.Get(from.push(mirror.InBucket(blob.NewDirectory(dir)), w))(t)
	web, _ := onWeb(t, func(rw http.ResponseWriter, r *http.Request) {
		if _, err := os.Stat(filepath.Join(dir, strings.TrimPrefix(r.URL.Path, "/base"))); err != nil {
			rw.WriteHeader(http.StatusForbidden)
			return
		}
		http.StripPrefix("/base", http.FileServer(http.Dir(dir))).ServeHTTP(rw, r)
	})
	pulled, err := newMachine(t).pull(web, w, later)
	if err != nil || len(pulled) != 2 || pulled[0].State != event.Pulled || pulled[1].State != event.Absent || pulled[1].Path != "" {
		t.Errorf("one of two: %+v, %v", pulled, err)
	}
	if pulled, err = newMachine(t).pull(web, later); !errors.Is(err, getproviders.ErrUnauthorized) || pulled[0].State != event.Failed {
		t.Errorf("none: %+v, %v", pulled, err)
	}
}

// TestOnWeb_ShowsNoSignature has a server that redirects to signed URLs, as those in front of
// buckets do, where nothing answers.
func TestOnWeb_ShowsNoSignature(t *testing.T) {
	t.Parallel()
	to := ""
	web, server := onWeb(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Location", to)
		rw.WriteHeader(http.StatusFound)
	})
	for _, to = range []string{"http://127.0.0.1:1/x?signature=secret1", "http://a:secret1@127.0.0.1:1/x", "/again?signature=secret1", "ftp://127.0.0.1/x?signature=secret1"} {
		_, err := newMachine(t).pull(web, newMachine(t).add("a", small("a")))
		must.NotContain(t, err.Error(), "secret1")
		must.Contain(t, err, server)
	}
}
