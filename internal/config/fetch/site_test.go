package fetch

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// site is a server of archives and answers, over TLS.
type site struct {
	*providertest.Server
	pages map[string]http.HandlerFunc // by path
	net   string                      // the URL of an archive of someTree, which is always there
}

// newSite makes a server. Set the pages before the first request.
func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{pages: map[string]http.HandlerFunc{}}
	server := must.Get(providertest.NewServer(providertest.ServerOptions{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page := s.pages[r.URL.Path]; page != nil {
			page(w, r)
			return
		}
		http.NotFound(w, r)
	})}))(t)
	t.Cleanup(server.Close)
	s.Server, s.net = server, server.BaseURL()+"/net.zip"
	s.zip(t, "/net.zip", "")
	return s
}

// parallelSite makes a server for a test that runs beside others.
func parallelSite(t *testing.T) *site {
	t.Parallel()
	return newSite(t)
}

// zip serves an archive of someTree, as file does.
func (s *site) zip(t testing.TB, path, etag string) { s.file(path, zipped(t, someTree), etag) }

// file serves bytes, with an ETag if given, and answers If-None-Match.
func (s *site) file(path string, content []byte, etag string) {
	s.pages[path] = func(w http.ResponseWriter, r *http.Request) {
		if etag != "" {
			w.Header().Set("ETag", etag)
			if r.Header.Get("If-None-Match") == etag {
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		_, _ = w.Write(content)
	}
}

// hop serves the header with the location of the package.
func (s *site) hop(path, told string) {
	s.pages[path] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Terraform-Get", told)
		w.WriteHeader(http.StatusNoContent)
	}
}

// asked lists the requests from a number on, by method and path.
func (s *site) asked(since int) []string {
	var all []string
	for _, r := range s.Log()[since:] {
		all = append(all, r.Method+" "+r.Path)
	}
	return all
}

// fetcher makes a Fetcher for the site.
func (s *site) fetcher(t testing.TB, store string) *Fetcher {
	t.Helper()
	f := &Fetcher{Client: s.Client(), Store: store, Environ: testEnviron()}
	t.Cleanup(func() { must.Succeed(t, f.Close()) })
	return f
}

// testEnviron keeps git from reading the machine's configuration.
func testEnviron() []string {
	return append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
}

// fetched fetches a package, and returns its files.
func fetched(t testing.TB, f *Fetcher, req modules.FetchRequest) map[string]string {
	t.Helper()
	dst := filepath.Join(t.TempDir(), "module")
	must.Succeed(t, must.ErrorOf(f.Fetch(t.Context(), req, dst)), req.Package)
	return peertest.Tree(t, dst)
}

// brings fetches a package that must have the content of a directory of someTree.
func brings(t testing.TB, f *Fetcher, pkg, dir string) {
	t.Helper()
	sameTree(t, fetched(t, f, get(pkg)), below(someTree, dir))
}

// refused fetches a package that must be refused, and returns the error.
func refused(t testing.TB, f *Fetcher, pkg string) error {
	t.Helper()
	dst := filepath.Join(t.TempDir(), "module")
	_, err := f.Fetch(t.Context(), modules.FetchRequest{Package: pkg}, dst)
	must.Refuse(err)(t, pkg)
	must.Refuse(os.Lstat(dst))(t, pkg, err)
	return err
}

// someTree is the content of the archives of most tests.
var someTree = files{
	"main.tf":         "# root\n",
	".hidden":         "h",
	"modules/a/a.tf":  "# a\n",
	"modules/ab/b.tf": "# ab\n",
	"docs/x/page.md":  "# page\n",
}

// below returns the files of a tree in a directory of it.
func below(files files, dir string) map[string]string {
	found := map[string]string{}
	for name, content := range files {
		if rest, ok := strings.CutPrefix("/"+name, strings.TrimSuffix("/"+dir, "/")+"/"); ok {
			found[rest] = content
		}
	}
	return found
}

func sameTree(t testing.TB, got, want map[string]string) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("there is %q\nwant %q", got, want)
	}
}

// zipped makes an archive whose files can't be run.
func zipped(t testing.TB, files files) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(files[name]))
		}
		must.Succeed(t, err)
	}
	must.Succeed(t, w.Close())
	return buf.Bytes()
}

// tarred makes a tar.gz of entries. The content of an entry that isn't a regular file is its
// target.
func tarred(t testing.TB, entries ...tar.Header) []byte {
	t.Helper()
	var buf bytes.Buffer
	packed := gzip.NewWriter(&buf)
	w := tar.NewWriter(packed)
	for _, h := range entries {
		content := []byte(nil)
		if h.Typeflag == 0 {
			h.Typeflag, content, h.Linkname = tar.TypeReg, []byte(h.Linkname), ""
			h.Size = int64(len(content))
		}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		err := w.WriteHeader(&h)
		if err == nil {
			_, err = w.Write(content)
		}
		must.Succeed(t, err)
	}
	must.Succeed(t, w.Close())
	must.Succeed(t, packed.Close())
	return buf.Bytes()
}

// plain decompresses gzip.
func plain(t testing.TB, packed []byte) []byte {
	t.Helper()
	return must.Get(io.ReadAll(must.Get(gzip.NewReader(bytes.NewReader(packed)))(t)))(t)
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

var errInterrupt = errors.New("interrupt")

func contextWithCause(t testing.TB) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	return ctx, cancel
}

// oddArchive has entries other than files with ordinary modes.
func oddArchive(t testing.TB) []byte {
	t.Helper()
	return tarred(t,
		tar.Header{Name: "main.tf", Linkname: "# root\n"},
		tar.Header{Name: "run.sh", Linkname: "#!/bin/sh\n", Mode: 0o755},
		tar.Header{Name: "private", Linkname: "p", Mode: 0o600},
		tar.Header{Name: "open", Linkname: "o", Mode: 0o666},
		tar.Header{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "main.tf"},
		tar.Header{Name: "hard", Typeflag: tar.TypeLink, Linkname: "main.tf"},
		tar.Header{Name: "empty/", Typeflag: tar.TypeDir, Mode: 0o755},
	)
}

func outsideArchive(t testing.TB) []byte {
	t.Helper()
	return tarred(t, tar.Header{Name: "main.tf"}, tar.Header{Name: "../outside"})
}
