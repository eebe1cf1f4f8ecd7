package fetch

import (
	"fmt"
	"net/http"
	"net/http/cgi"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// lookProgram finds a program that a test needs. hg isn't required.
func lookProgram(t testing.TB, name string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil && name == "hg" {
		t.Skip("hg is not on PATH")
	}
	return peertest.LookProgram(t, name)
}

// run runs a program in a directory, and returns its output.
func run(t testing.TB, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	cmd.Env = append(testEnviron(), "HGUSER=a", "HGRCPATH=", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	must.Succeed(t, err, program, args, &stderr)
	return strings.TrimSpace(string(out))
}

// newGit makes a repository with a commit, and returns its path and the commit.
func newGit(t testing.TB, files files) (dir, commit string) {
	t.Helper()
	lookProgram(t, "git")
	dir = filepath.Join(t.TempDir(), "net.git")
	run(t, "", "git", "init", "-q", "--template=", "-b", "main", dir)
	must.WriteAll(t, dir, files)
	run(t, dir, "git", "add", "-A")
	run(t, dir, "git", "commit", "-q", "-m", "one")
	run(t, dir, "git", "tag", "v1")
	return dir, run(t, dir, "git", "rev-parse", "HEAD")
}

func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return "file://" + path
}

func TestFetch_GitRepositories(t *testing.T) {
	t.Parallel()
	dir, commit := newGit(t, someTree)
	f := &Fetcher{Environ: testEnviron(), Store: t.TempDir()}
	defer f.Close()
	for _, query := range []string{"", "?ref=v1", "?ref=" + commit, "?depth=1&ref=main"} {
		dst := filepath.Join(t.TempDir(), "module")
		must.Equal(t, must.Get(f.Fetch(t.Context(), get("git::"+fileURL(dir)+query), dst))(t).Commit, commit, query)
		sameTree(t, peertest.Tree(t, dst), below(someTree, ""))
	}
	for query, want := range map[string]error{"?ref=v2": ErrNotFound, "?ref=--x": ErrAddress} {
		must.Fail(t, refused(t, f, "git::"+fileURL(dir)+query), want, query)
	}
	must.Fail(t, refused(t, f, "git::"+fileURL(dir)+"-nothing"), getproviders.ErrUnreachable)
	t.Run("links stay, and lead nowhere else", func(t *testing.T) {
		cachetest.LinkOrSkip(t, "modules/a", filepath.Join(dir, "in"))
		cachetest.LinkOrSkip(t, "../..", filepath.Join(dir, "out"))
		run(t, dir, "git", "add", "-A")
		run(t, dir, "git", "commit", "-q", "-m", "two")
		s := newSite(t)
		serveGit(t, s, filepath.Dir(dir))
		s.hop("/in", "git::"+s.BaseURL()+"/net.git//in")
		s.hop("/out", "git::"+s.BaseURL()+"/net.git//out")
		f := s.fetcher(t, "")
		f.Environ = append(f.Environ, "GIT_SSL_CAINFO="+caFile(t, s))
		if got := fetched(t, f, get("git::"+s.BaseURL()+"/net.git")); got["in"] != "-> modules/a" || got["out"] != "-> ../.." {
			t.Errorf("%q", got)
		}
		brings(t, f, s.BaseURL()+"/in", "modules/a")
		must.Contain(t, refused(t, f, s.BaseURL()+"/out"), "outside of the module package")
	})
}

func TestFetch_ArchiveInAGitRepository(t *testing.T) {
	t.Parallel()
	dir, _ := newGit(t, map[string]string{"net.tgz": string(providertest.TarGz(someTree))})
	f := &Fetcher{Environ: testEnviron()}
	defer f.Close()
	brings(t, f, "git::"+fileURL(dir)+"/net.tgz?ref=v1", "")
	must.Fail(t, refused(t, f, "git::"+fileURL(dir)+"/other.tgz"), ErrNotFound)
}

// serveGit serves the repositories of a directory, below /net.git.
func serveGit(t testing.TB, s *site, dir string) {
	t.Helper()
	handler := &cgi.Handler{Path: lookProgram(t, "git"), Args: []string{"http-backend"}, Env: []string{
		"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
	}}
	for _, path := range []string{"/net.git/info/refs", "/net.git/git-upload-pack", "/net.git/HEAD"} {
		s.pages[path] = func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }
	}
}

func caFile(t testing.TB, s *site) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	must.Write(t, path, s.CAPEM())
	return path
}

func TestFetch_GitIsAskedOnceForManyCalls(t *testing.T) {
	t.Parallel()
	dir, commit := newGit(t, someTree)
	s := newSite(t)
	serveGit(t, s, filepath.Dir(dir))
	s.hop("/page", "git::"+s.BaseURL()+"/net.git//docs?ref=v1")
	store, ca := t.TempDir(), caFile(t, s)
	fetchAll := func(pkg, pin string) {
		f := &Fetcher{Client: s.Client(), Store: store, Environ: append(testEnviron(), "GIT_SSL_CAINFO="+ca)}
		defer f.Close()
		dir := t.TempDir()
		var calls sync.WaitGroup
		for i := range 10 {
			calls.Go(func() {
				got, err := f.Fetch(t.Context(), modules.FetchRequest{Package: pkg, Pin: pin}, filepath.Join(dir, fmt.Sprint(i)))
				if err != nil || got.Commit != commit {
					t.Errorf("%+v, %v", got, err)
				}
			})
		}
		calls.Wait()
	}
	for _, pkg := range []string{"git::" + s.BaseURL() + "/net.git?ref=v1", s.BaseURL() + "/page"} {
		fetchAll(pkg, "net 1.0.0")
		before := len(s.Log())
		fetchAll(pkg, "net 1.0.0")
		must.Len(t, s.asked(before), 0, "requests although it is pinned", pkg)
		fetchAll(pkg, "")
		if got := s.asked(before); len(got) == 0 || len(got) > 3 {
			t.Errorf("%s: requests: %q", pkg, got)
		}
	}
}

func TestFetch_MercurialRepositories(t *testing.T) {
	if testing.Short() {
		t.Skip("each command of hg takes a while")
	}
	t.Parallel()
	lookProgram(t, "hg")
	dir := filepath.Join(t.TempDir(), "net")
	run(t, "", "hg", "init", dir)
	must.WriteAll(t, dir, someTree)
	run(t, dir, "hg", "commit", "-q", "-A", "-m", "one")
	must.WriteAll(t, dir, otherTree)
	run(t, dir, "hg", "commit", "-q", "-m", "two")
	f := &Fetcher{Environ: append(testEnviron(), "HGRCPATH=")}
	defer f.Close()
	brings(t, f, "hg::"+fileURL(dir)+"?rev=0", "")
	must.Equal(t, fetched(t, f, get("hg::"+fileURL(dir)))["main.tf"], otherTree["main.tf"])
	must.Contain(t, refused(t, f, "hg::"+fileURL(dir)+"?rev=v2"), "v2")
	must.Fail(t, refused(t, f, "hg::"+fileURL(dir)+"-nothing"), getproviders.ErrUnreachable)

	private := filepath.Join(t.TempDir(), "private")
	run(t, "", "hg", "clone", "-q", dir, private)
	run(t, "", "hg", "clone", "-q", dir, filepath.Join(dir, "sub"))
	must.Write(t, filepath.Join(dir, ".hgsub"), "sub = "+private+"\n")
	run(t, dir, "hg", "commit", "-q", "-A", "-m", "three")
	must.Equal(t, fetched(t, f, get("hg::"+fileURL(dir)+"?rev=2"))["sub/main.tf"], otherTree["main.tf"])
	must.Contain(t, refused(t, f, "hg::"+hgServe(t, dir)), "hg subrepos not allowed")
}

// hgServe serves a repository by HTTP until the test ends, and returns its URL.
func hgServe(t *testing.T, dir string) string {
	cmd := exec.Command("hg", "serve", "-R", dir, "-a", "127.0.0.1", "-p", "0")
	stdout := must.Get(cmd.StdoutPipe())(t)
	must.Succeed(t, cmd.Start())
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	var host string
	var port int
	_ = must.Get(fmt.Fscanf(stdout, "listening at http://%s (bound to 127.0.0.1:%d)", &host, &port))(t)
	return fmt.Sprintf("http://127.0.0.1:%d/", port)
}

// git and hg obey files in .git and .hg, even if a package contains them.
func TestFetch_NoPackageBringsARepository(t *testing.T) {
	t.Parallel()
	files := files{".gitignore": "y", "a/.hgtags": "x", "main.tf": "", "git/x": "x"}
	want := below(files, "")
	files[".hg/hgrc"], files["a/.hg/hgrc"], files["c/.HG/x/y"] = "[hooks]", "[hooks]", "x"
	repository, _ := newGit(t, files)
	files[".git/config"], files["c/.GIT/config"], files["b/.git"] = "[core]", "[core]", "gitdir: /x"
	s := newSite(t)
	s.file("/net.zip", zipped(t, files), "")
	s.file("/net.tgz", providertest.TarGz(files), "")
	f := s.fetcher(t, t.TempDir())
	for _, pkg := range []string{s.net, s.BaseURL() + "/net.tgz", "git::" + fileURL(repository)} {
		got := fetched(t, f, get(pkg))
		delete(got, "b")
		delete(got, "c")
		sameTree(t, got, want)
	}
}
