package fetch

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// files maps slash-separated names to contents.
type files = map[string]string

func get(pkg string) modules.FetchRequest { return modules.FetchRequest{Package: pkg} }

func TestFetch_CopiesAreIndependent(t *testing.T) {
	s := parallelSite(t)
	s.file("/net.tgz", providertest.TarGz(someTree), "")
	f := s.fetcher(t, t.TempDir())
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, dst := range []string{first, second} {
		must.Get(f.Fetch(t.Context(), get(s.BaseURL()+"/net.tgz"), dst))(t)
		must.Write(t, filepath.Join(dst, "main.tf"), "changed")
	}
	brings(t, f, s.BaseURL()+"/net.tgz", "")
	must.EqualSlices(t, s.asked(0), []string{"GET /net.tgz"}, "requests")
}

func TestFetch_WhatIsThereStays(t *testing.T) {
	s := parallelSite(t)
	dst := t.TempDir()
	must.Write(t, filepath.Join(dst, "mine"), "x")
	must.Fail(t, must.ErrorOf(s.fetcher(t, "").Fetch(t.Context(), get(s.net), dst)), fs.ErrExist)
	must.DeepEqual(t, peertest.Tree(t, dst), map[string]string{"mine": "x"})
}

func TestFetch_ManyCallsAtOnceAskOnce(t *testing.T) {
	s := parallelSite(t)
	s.hop("/net", "./net.zip//modules/a")
	f := s.fetcher(t, t.TempDir())
	dir := t.TempDir()
	var calls sync.WaitGroup
	for i := range 40 {
		calls.Go(func() {
			pkg := s.net
			if i%2 == 0 {
				pkg = s.BaseURL() + "/net"
			}
			if _, err := f.Fetch(t.Context(), modules.FetchRequest{Package: pkg, Pin: "net 1"}, filepath.Join(dir, fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	must.Len(t, s.asked(0), 2, "requests")
	for i := range 40 {
		want := below(someTree, "")
		if i%2 == 0 {
			want = below(someTree, "modules/a")
		}
		sameTree(t, peertest.Tree(t, filepath.Join(dir, fmt.Sprint(i))), want)
	}
}

// Terraform doesn't accept relative locations as addresses; the others are compared with it (TestFetch_SamePackagesAsTerraform).
func TestFetch_ServersSayWhereThePackageIs(t *testing.T) {
	s := parallelSite(t)
	s.zip(t, "/dl/net.zip", "")
	s.hop("/dl/dot", "./net.zip//modules/a")
	s.hop("/dl/slash", "/dl/net.zip//modules/ab")
	s.pages["/dl/moved"] = http.RedirectHandler("/dl/below/header", http.StatusFound).ServeHTTP
	s.hop("/dl/below/header", "../net.zip//docs/x")
	for path, dir := range map[string]string{"dot": "modules/a", "slash": "modules/ab", "moved": "docs/x"} {
		brings(t, s.fetcher(t, ""), s.BaseURL()+"/dl/"+path, dir)
	}
}

func TestFetch_ServersThatLeadNowhere(t *testing.T) {
	s := parallelSite(t)
	base := s.BaseURL()
	s.file("/text", []byte("hello"), "")
	s.file("/text.tgz", []byte("hello"), "")
	s.hop("/loop", base+"/loop")
	s.hop("/ping", base+"/pong")
	s.hop("/pong", base+"/ping")
	s.hop("/file", "file:///etc")
	s.hop("/path", "/etc")
	s.hop("/git", "git::file:///etc")
	s.hop("/registry", "acme/net/cloud")
	s.hop("/odd", "git::ext::sh -c id")
	s.hop("/nosub", base+"/net.zip//nothing")
	s.hop("/many", base+"/net.zip//modules/*")
	s.hop("/isfile", base+"/net.zip//main.tf")
	s.hop("/relative", "net/../net.zip") // neither relative nor anything else that is known
	s.file("/net.gz", providertest.TarGz(someTree), "")
	for path, want := range map[string]string{
		"loop": "10 answers", "ping": "10 answers", "file": "files of this machine", "git": "files of this machine",
		"registry": "registry", "odd": "not the address", "nosub": `"nothing"`, "many": "several", "isfile": "no directory", "relative": "not an address", "net.gz": "single file",
		"text": "?archive=zip", "text.tgz": "reader for the archive: ", "nothing": "404 Not Found", "path": "404 Not Found",
	} {
		must.Contain(t, refused(t, s.fetcher(t, ""), base+"/"+path), want, path)
	}
}

func TestFetch_ParametersReachTheServerAsTheyAre(t *testing.T) {
	s := parallelSite(t)
	var queries []string
	s.pages["/net"] = func(w http.ResponseWriter, r *http.Request) {
		queries = append(queries, r.URL.RawQuery)
		w.Header().Set("X-Terraform-Get", "./net.bin?sig=%2B/a&archive=zip&b=1;2")
	}
	s.pages["/net.bin"] = func(w http.ResponseWriter, r *http.Request) {
		queries = append(queries, r.URL.RawQuery)
		must.Equal(t, r.Header.Get("Accept-Encoding"), "identity", "Accept-Encoding")
		_, _ = w.Write(zipped(t, someTree))
	}
	fetched(t, s.fetcher(t, ""), get(s.BaseURL()+"/net?z=1&a=%20"))
	must.EqualSlices(t, queries, []string{"z=1&a=%20&terraform-get=1", "sig=%2B/a&b=1;2"})
}

// Some caches send a part that is the whole content, without a request for a part.
func TestFetch_TakesAPartThatIsTheWhole(t *testing.T) {
	s := parallelSite(t)
	archive := zipped(t, someTree)
	part := func(content []byte, said string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", said)
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(content)
		}
	}
	size := len(archive)
	s.pages["/all.zip"] = part(archive, fmt.Sprintf("bytes 0-%d/%d", size-1, size))
	s.pages["/some.zip"] = part(archive[:size-1], fmt.Sprintf("bytes 0-%d/%d", size-2, size))
	s.pages["/unsaid.zip"] = part(archive, "")
	f := s.fetcher(t, "")
	brings(t, f, s.BaseURL()+"/all.zip", "")
	brings(t, f, s.BaseURL()+"/unsaid.zip", "")
	must.Fail(t, refused(t, f, s.BaseURL()+"/some.zip"), getproviders.ErrUnreachable)
}

func TestFetch_ErrorsSayWhichKind(t *testing.T) {
	s := parallelSite(t)
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	s.pages["/401.zip"], s.pages["/403"], s.pages["/410.zip"], s.pages["/500.zip"] =
		status(401), status(403), status(410), status(500)
	s.file("/bad.zip", []byte("not a zip"), "")
	s.file("/SUMS", []byte(someSHA256+"  net.zip"), "")
	for pkg, want := range map[string]error{
		"/401.zip": getproviders.ErrUnauthorized, "/403": getproviders.ErrUnauthorized, "/404.zip": ErrNotFound, "/410.zip": ErrNotFound,
		"/500.zip": getproviders.ErrUnreachable, "/bad.zip": nil, "/404": ErrNotFound,
		"/net.zip?checksum=" + someSHA256:                      ErrChecksum,
		"/net.zip?checksum=file:" + s.BaseURL() + "/SUMS":      ErrChecksum,
		"/net.zip?checksum=file:" + s.BaseURL() + "/404":       ErrNotFound,
		"/net.zip?checksum=file:" + s.BaseURL() + "/bad.zip":   ErrChecksum,
		"/net.zip?checksum=file:///etc/passwd":                 ErrAddress,
		"/net.zip?checksum=" + someSHA256 + "&token=no-secret": ErrChecksum,
	} {
		err := refused(t, s.fetcher(t, ""), s.BaseURL()+pkg)
		e, ok := errors.AsType[*getproviders.Fault](err)
		if !ok || !strings.Contains(e.Error(), s.BaseURL()) || e.Kind != want {
			t.Errorf("%s: %#v", pkg, err)
		}
		must.NotContain(t, err.Error(), "no-secret")
	}
	closed := newSite(t)
	closed.Close()
	must.Fail(t, refused(t, closed.fetcher(t, ""), closed.BaseURL()+"/net.zip"), getproviders.ErrUnreachable)
}

func TestFetch_FailedDownloadsAreForgotten(t *testing.T) {
	s := parallelSite(t)
	s.Break("other", providertest.Fault{CutAfter: 100})
	store := t.TempDir()
	must.Fail(t, refused(t, s.fetcher(t, store), s.net), getproviders.ErrUnreachable)
	s.Break("other", providertest.Fault{})
	f := s.fetcher(t, store)
	f.bounds.download = 100
	must.Contain(t, refused(t, f, s.net), "larger than 100 bytes")
	must.Len(t, peertest.Tree(t, filepath.Join(store, archivesDir)), 0, "the store")
	f = s.fetcher(t, store)
	s.Break("other", providertest.Fault{Status: 503, Times: 1})
	refused(t, f, s.net)
	brings(t, f, s.net, "")
}

func TestFetch_DirectoriesAreLinked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "main.tf"), "")
	f := &Fetcher{}
	defer f.Close()
	for range 2 {
		dst := filepath.Join(t.TempDir(), "module")
		must.Get(f.Fetch(t.Context(), get(fileURL(dir)), dst))(t)
		if at, err := os.Readlink(dst); runtime.GOOS != "windows" || err == nil { // Wine makes no links, so that it is a copy
			must.Equal(t, at, dir, err)
		}
		must.Get(os.Stat(filepath.Join(dst, "main.tf")))(t)
	}
	err := refused(t, f, fileURL(dir)+"/nothing")
	must.Fail(t, err, ErrNotFound)
	must.Fail(t, err, fs.ErrNotExist)
	must.Contain(t, refused(t, f, fileURL(dir)+"/main.tf"), "neither a directory nor an archive")
	must.Succeed(t, os.Mkdir(filepath.Join(dir, "dir.zip"), 0o755))
	must.Contain(t, refused(t, f, fileURL(dir)+"/dir.zip"), "is not a file")
	must.Fail(t, refused(t, f, fileURL(dir)+"/nothing.zip"), ErrNotFound)
}

func TestFetch_EndOfTheContextIsTheError(t *testing.T) {
	s := parallelSite(t)
	s.Break("other", providertest.Fault{Stall: true, CutAfter: 10})
	f := s.fetcher(t, t.TempDir())
	ctx, cancel := contextWithCause(t)
	go func() {
		for s.Requests("other") == 0 {
			runtime.Gosched()
		}
		cancel(errInterrupt)
	}()
	dst := filepath.Join(t.TempDir(), "module")
	must.Fail(t, must.ErrorOf(f.Fetch(ctx, get(s.net), dst)), errInterrupt)
	must.Refuse(os.Lstat(dst))(t, "something is there")
}

// A package that a registry serves itself is unpacked according to its content, and the registry's token is sent only if the
// registry requires it.
func TestFetch_ServedPackages(t *testing.T) {
	t.Parallel()
	tgz := providertest.TarGz(files{"main.tf": "tgz"})
	for name, c := range map[string]struct {
		content []byte
		encoded bool
		token   hosts.Hostname
		want    string
	}{
		"gzip":            {content: tgz, want: "tgz"},
		"with token":      {content: tgz, token: "example.com", want: "tgz"},
		"token of others": {content: tgz, token: "other.example.com", want: "tgz"},
		"zip":             {content: zipped(t, files{"main.tf": "zip"}), want: "zip"},
		"encoded":         {content: tgz, encoded: true, want: "tgz"},
		"page":            {content: []byte("<html>")},
		"nothing":         {content: nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.pages["/package"] = func(w http.ResponseWriter, _ *http.Request) {
				if c.encoded {
					w.Header().Set("Content-Encoding", "gzip")
				}
				_, _ = w.Write(c.content)
			}
			f := s.fetcher(t, t.TempDir())
			f.Credentials = hosts.NewStaticTokens(map[hosts.Hostname]string{"example.com": "s3cret"})
			dst := filepath.Join(t.TempDir(), "m")
			_, err := f.Fetch(t.Context(), modules.FetchRequest{Package: s.BaseURL() + "/package", Pin: "net 1", Served: modules.Served{Here: true, TokenOf: c.token}}, dst)
			if c.want == "" && err == nil || c.want != "" && (err != nil || peertest.Tree(t, dst)["main.tf"] != c.want) {
				t.Errorf("got %v", err)
			}
			if got, want := s.Log()[0].Header.Get("Authorization") != "", c.token == "example.com"; got != want {
				t.Errorf("the token was sent: %t, want %t", got, want)
			}
		})
	}
}
