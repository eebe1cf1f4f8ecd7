package fetch

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

func get(pkg string) modules.FetchRequest { return modules.FetchRequest{Package: pkg} }

func TestFetch_ArchiveIsAskedForOnceByOneGET(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.file("/net.zip", zipped(t, someTree), "")
	f := s.fetcher(t, t.TempDir())
	for range 3 {
		sameTree(t, fetched(t, f, get(s.BaseURL()+"/net.zip")), below(someTree, ""))
	}
	if got := s.asked(0); !slices.Equal(got, []string{"GET /net.zip"}) {
		t.Errorf("requests: %q", got)
	}
}

func TestFetch_CopiesAreIndependent(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.file("/net.tgz", providertest.TarGz(someTree), "")
	f := s.fetcher(t, t.TempDir())
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, dst := range []string{first, second} {
		if _, err := f.Fetch(t.Context(), get(s.BaseURL()+"/net.tgz"), dst); err != nil {
			t.Fatal(err)
		}
		must.Succeed(t, os.WriteFile(filepath.Join(dst, "main.tf"), []byte("changed"), 0o644))
	}
	sameTree(t, fetched(t, f, get(s.BaseURL()+"/net.tgz")), below(someTree, ""))
}

func TestFetch_ManyCallsAtOnceAskOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hop("/net", "./net.zip//modules/a")
	s.file("/net.zip", zipped(t, someTree), "")
	f := s.fetcher(t, t.TempDir())
	f.Limit = 2
	dir := t.TempDir()
	var calls sync.WaitGroup
	for i := range 40 {
		calls.Go(func() {
			pkg := s.BaseURL() + "/net.zip"
			if i%2 == 0 {
				pkg = s.BaseURL() + "/net"
			}
			if _, err := f.Fetch(t.Context(), modules.FetchRequest{Package: pkg, Pin: "net 1"}, filepath.Join(dir, fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if got := s.asked(0); len(got) != 2 {
		t.Errorf("requests: %q", got)
	}
	for i := range 40 {
		want := below(someTree, "")
		if i%2 == 0 {
			want = below(someTree, "modules/a")
		}
		sameTree(t, tree(t, filepath.Join(dir, fmt.Sprint(i))), want)
	}
}

func TestFetch_ServersSayWhereThePackageIs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	base := s.BaseURL()
	s.file("/dl/net.zip", zipped(t, someTree), "")
	s.file("/dl/blob", providertest.TarGz(someTree), "")
	page := func(told string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `<html><head><meta name="terraform-get" content="%s"></head></html>`, told)
		}
	}
	s.hop("/dl/header", base+"/dl/net.zip")
	s.hop("/dl/relative", "net/../net.zip") // neither relative nor anything else that is known
	s.hop("/dl/dot", "./net.zip//modules/a")
	s.hop("/dl/slash", "/dl/net.zip//modules/ab")
	s.hop("/dl/query", "./blob//docs?archive=tgz")
	s.hop("/dl/glob", base+"/dl/net.zip//mod*/ab")
	s.hop("/dl/again", base+"/dl/docs//x")
	s.hop("/dl/docs", base+"/dl/net.zip//docs")
	s.pages["/dl/page"] = page(base + "/dl/net.zip")
	s.pages["/dl/page-dot"] = page("./net.zip//docs")
	s.pages["/dl/moved"] = http.RedirectHandler("/dl/below/header", http.StatusFound).ServeHTTP
	s.hop("/dl/below/header", "../net.zip//docs/x")
	for path, dir := range map[string]string{
		"header": "", "dot": "modules/a", "slash": "modules/ab", "query": "docs", "glob": "modules/ab",
		"again": "docs/x", "page": "", "page-dot": "docs", "moved": "docs/x",
	} {
		t.Run(path, func(t *testing.T) {
			sameTree(t, fetched(t, s.fetcher(t, ""), get(base+"/dl/"+path)), below(someTree, dir))
		})
	}
	if err := refused(t, s.fetcher(t, ""), base+"/dl/relative"); !strings.Contains(err.Error(), "no address") {
		t.Error(err)
	}
}

func TestFetch_ServersThatLeadNowhere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	base := s.BaseURL()
	s.file("/net.zip", zipped(t, someTree), "")
	s.file("/text", []byte("hello"), "")
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
	for path, want := range map[string]string{
		"loop": "10 answers", "ping": "10 answers", "file": "files of this machine", "git": "files of this machine",
		"registry": "registry", "odd": "no address", "nosub": `"nothing"`, "many": "several", "isfile": "no directory",
		"text": "?archive=zip", "nothing": "404 Not Found", "path": "404 Not Found",
	} {
		if err := refused(t, s.fetcher(t, ""), base+"/"+path); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestFetch_ParametersReachTheServerAsTheyAre(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var queries []string
	s.pages["/net"] = func(w http.ResponseWriter, r *http.Request) {
		queries = append(queries, r.URL.RawQuery)
		w.Header().Set("X-Terraform-Get", "./net.bin?sig=%2B/a&archive=zip&b=1;2")
	}
	s.pages["/net.bin"] = func(w http.ResponseWriter, r *http.Request) {
		queries = append(queries, r.URL.RawQuery)
		if r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("Accept-Encoding: %q", r.Header.Get("Accept-Encoding"))
		}
		_, _ = w.Write(zipped(t, someTree))
	}
	fetched(t, s.fetcher(t, ""), get(s.BaseURL()+"/net?z=1&a=%20"))
	if want := []string{"z=1&a=%20&terraform-get=1", "sig=%2B/a&b=1;2"}; !slices.Equal(queries, want) {
		t.Errorf("%q, want %q", queries, want)
	}
}

// Some caches answer with a part that is the whole, though none was asked for.
func TestFetch_TakesAPartThatIsTheWhole(t *testing.T) {
	t.Parallel()
	s := newSite(t)
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
	f := s.fetcher(t, "")
	sameTree(t, fetched(t, f, get(s.BaseURL()+"/all.zip")), below(someTree, ""))
	if err := refused(t, f, s.BaseURL()+"/some.zip"); !errors.Is(err, getproviders.ErrUnreachable) {
		t.Error(err)
	}
}

func TestFetch_ErrorsSayWhichKind(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	s.pages["/401.zip"], s.pages["/403"], s.pages["/410.zip"], s.pages["/500.zip"], s.pages["/206.zip"] =
		status(401), status(403), status(410), status(500), status(206)
	s.file("/net.zip", zipped(t, someTree), "")
	s.file("/bad.zip", []byte("not a zip"), "")
	s.file("/SUMS", []byte(someSHA256+"  net.zip"), "")
	for pkg, want := range map[string]error{
		"/401.zip": getproviders.ErrUnauthorized, "/403": getproviders.ErrUnauthorized, "/404.zip": ErrNotFound, "/410.zip": ErrNotFound,
		"/500.zip": getproviders.ErrUnreachable, "/206.zip": getproviders.ErrUnreachable, "/bad.zip": nil, "/404": ErrNotFound,
		"/net.zip?checksum=" + someSHA256:                      ErrChecksum,
		"/net.zip?checksum=file:" + s.BaseURL() + "/SUMS":      ErrChecksum,
		"/net.zip?checksum=file:" + s.BaseURL() + "/404":       ErrNotFound,
		"/net.zip?checksum=file:" + s.BaseURL() + "/bad.zip":   ErrChecksum,
		"/net.zip?checksum=file:///etc/passwd":                 ErrAddress,
		"/net.zip?checksum=" + someSHA256 + "&token=no-secret": ErrChecksum,
	} {
		err := refused(t, s.fetcher(t, ""), s.BaseURL()+pkg)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Package == "" || want != nil && !errors.Is(err, want) || e.Kind != want {
			t.Errorf("%s: %#v", pkg, err)
		}
		if strings.Contains(err.Error(), "no-secret") {
			t.Error(err)
		}
	}
	closed := newSite(t)
	closed.Close()
	if err := refused(t, closed.fetcher(t, ""), closed.BaseURL()+"/net.zip"); !errors.Is(err, getproviders.ErrUnreachable) {
		t.Error(err)
	}
}

func TestFetch_ChecksumsThatAreRight(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	archive := zipped(t, someTree)
	s.file("/dl/net.zip", archive, "")
	s.file("/dl/SUMS", []byte(someSHA256+"  other.zip\n"+sumOf(archive)+"  ./net.zip\n"), "")
	s.file("/SUMS", []byte(sumOf(archive)+"  dl/net.zip\n"), "")
	for _, sum := range []string{"sha256:" + sumOf(archive), sumOf(archive), "file:" + s.BaseURL() + "/dl/SUMS", "file:" + s.BaseURL() + "/SUMS"} {
		sameTree(t, fetched(t, s.fetcher(t, ""), get(s.BaseURL()+"/dl/net.zip?checksum="+sum)), below(someTree, ""))
	}
}

func TestFetch_BodiesThatBreakOffOrNeverEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.file("/net.zip", zipped(t, someTree), "")
	s.Break("other", providertest.Fault{CutAfter: 100})
	store := t.TempDir()
	if err := refused(t, s.fetcher(t, store), s.BaseURL()+"/net.zip"); !errors.Is(err, getproviders.ErrUnreachable) {
		t.Error(err)
	}
	s.Break("other", providertest.Fault{})
	f := s.fetcher(t, store)
	f.bounds.download = 100
	if err := refused(t, f, s.BaseURL()+"/net.zip"); !strings.Contains(err.Error(), "larger than 100 bytes") {
		t.Error(err)
	}
	if left := tree(t, filepath.Join(store, archivesDir)); len(left) > 0 {
		t.Errorf("the store has %q", left)
	}
	sameTree(t, fetched(t, s.fetcher(t, store), get(s.BaseURL()+"/net.zip")), below(someTree, ""))
}

func TestFetch_FailuresAreNotRemembered(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.file("/net.zip", zipped(t, someTree), "")
	s.Break("other", providertest.Fault{Status: 503, Times: 1})
	f := s.fetcher(t, "")
	refused(t, f, s.BaseURL()+"/net.zip")
	sameTree(t, fetched(t, f, get(s.BaseURL()+"/net.zip")), below(someTree, ""))
}

func TestFetch_AddressesAreRewritten(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.file("/mirror/net.zip", zipped(t, someTree), "")
	s.hop("/mirror/page", "https://elsewhere.example.com/net.zip//docs")
	f := s.fetcher(t, "")
	f.Rewrite = func(pkg string) string {
		return strings.Replace(pkg, "https://elsewhere.example.com/", s.BaseURL()+"/mirror/", 1)
	}
	sameTree(t, fetched(t, f, get("https://elsewhere.example.com/net.zip")), below(someTree, ""))
	sameTree(t, fetched(t, f, get("https://elsewhere.example.com/page")), below(someTree, "docs"))
}

func TestFetch_DirectoriesAreLinked(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("making a symlink is a privilege there; a copy is made instead")
	}
	dir := t.TempDir()
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "main.tf"), nil, 0o644))
	f := &Fetcher{}
	defer f.Close()
	for range 2 {
		dst := filepath.Join(t.TempDir(), "module")
		if _, err := f.Fetch(t.Context(), get("file://"+dir), dst); err != nil {
			t.Fatal(err)
		}
		if target, err := os.Readlink(dst); err != nil || target != dir {
			t.Errorf("%q, %v", target, err)
		}
	}
	if err := refused(t, f, "file://"+dir+"/nothing"); !errors.Is(err, ErrNotFound) || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := refused(t, f, "file://"+dir+"/main.tf"); !strings.Contains(err.Error(), "neither a directory nor an archive") {
		t.Error(err)
	}
}

func TestFetch_ArchivesOfThisMachineAreUnpacked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	archive := zipped(t, someTree)
	must.Succeed(t, errors.Join(
		os.WriteFile(filepath.Join(dir, "net.zip"), archive, 0o644),
		os.WriteFile(filepath.Join(dir, "SUMS"), []byte(sumOf(archive)+"  net.zip"), 0o644),
		os.Mkdir(filepath.Join(dir, "dir.zip"), 0o755)))
	base := "file://" + filepath.ToSlash(dir)
	if runtime.GOOS == "windows" {
		base = "file:///" + filepath.ToSlash(dir)
	}
	f := &Fetcher{}
	defer f.Close()
	sameTree(t, fetched(t, f, get(base+"/net.zip")), below(someTree, ""))
	sameTree(t, fetched(t, f, get(base+"/net.zip?checksum="+sumOf(archive))), below(someTree, ""))
	sameTree(t, fetched(t, f, get(base+"/net.zip?checksum=file:"+base+"/SUMS")), below(someTree, ""))
	if err := refused(t, f, base+"/dir.zip"); !strings.Contains(err.Error(), "is not a file") {
		t.Error(err)
	}
	if err := refused(t, f, base+"/nothing.zip"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}

func TestFetch_EndOfTheContextIsTheError(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.file("/net.zip", zipped(t, someTree), "")
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
	if _, err := f.Fetch(ctx, get(s.BaseURL()+"/net.zip"), dst); !errors.Is(err, errInterrupt) {
		t.Error(err)
	}
	if _, err := os.Lstat(dst); err == nil {
		t.Error("something is there")
	}
}
