package git

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// requireGit finds git and returns an environment without the machine's configuration.
func requireGit(tb testing.TB) (program string, environ []string) {
	tb.Helper()
	program = peertest.LookProgram(tb, "git")
	home := tb.TempDir()
	environ = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_SSL_CAPATH=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + filepath.Join(home, "gitconfig"),
		"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=n@example.com", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=n@example.com",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
	if runtime.GOOS == "windows" { // nothing works there without these
		environ = append(environ, "SYSTEMROOT="+os.Getenv("SYSTEMROOT"), "USERPROFILE="+home, "TEMP="+home, "TMP="+home)
	}
	return program, environ
}

// origin is a repository with a working tree, which tests fetch from.
type origin struct {
	tb      testing.TB
	dir     string
	program string
	environ []string
}

func newOrigin(tb testing.TB, args ...string) *origin {
	tb.Helper()
	return copyOf(tb, "empty "+strings.Join(args, " "), func(o *origin) map[string]string {
		o.init(args...)
		return nil
	}).origin
}

// init makes an empty repository.
func (o *origin) init(args ...string) {
	o.tb.Helper()
	o.git(append([]string{"init", "--quiet", "--template="}, args...)...)
	o.git("symbolic-ref", "HEAD", "refs/heads/main")
	o.git("config", "core.autocrlf", "false")
}

// patterns are repositories that tests copy: git makes each one once, as that takes many processes.
var patterns struct {
	mu   sync.Mutex
	dir  string
	made map[string]pattern
}

// pattern is a repository with the IDs of its commits, by their names in the test.
type pattern struct {
	*origin
	ids map[string]string
}

// copyOf returns a copy of the named repository, which the first caller makes.
func copyOf(tb testing.TB, name string, fill func(*origin) map[string]string) pattern {
	tb.Helper()
	program, environ := requireGit(tb)
	patterns.mu.Lock()
	defer patterns.mu.Unlock()
	from, ok := patterns.made[name]
	if !ok {
		if patterns.made == nil {
			patterns.made = map[string]pattern{}
		}
		dir := must.Get(os.MkdirTemp(patterns.dir, ""))(tb)
		from.origin = &origin{tb: tb, dir: dir, program: program, environ: environ}
		from.ids = fill(from.origin)
		patterns.made[name] = from
	}
	o := &origin{tb: tb, dir: tb.TempDir(), program: program, environ: environ}
	must.Succeed(tb, os.CopyFS(o.dir, os.DirFS(from.dir)))
	return pattern{o, maps.Clone(from.ids)}
}

// git runs a command in the repository and returns its output.
func (o *origin) git(args ...string) string {
	o.tb.Helper()
	return o.gitInput("", args...)
}

func (o *origin) gitInput(input string, args ...string) string {
	o.tb.Helper()
	cmd := exec.Command(o.program, append([]string{"-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = o.dir, o.environ, strings.NewReader(input)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	must.Succeed(o.tb, err, args, &said)
	return strings.TrimSpace(string(out))
}

// commit writes files, name after content, and returns the new commit's ID.
func (o *origin) commit(namesAndContents ...string) string {
	o.tb.Helper()
	for i := 0; i < len(namesAndContents); i += 2 {
		must.Write(o.tb, filepath.Join(o.dir, filepath.FromSlash(namesAndContents[i])), namesAndContents[i+1])
	}
	o.git("add", "--all")
	o.git("commit", "--quiet", "--allow-empty", "--message=m")
	return o.git("rev-parse", "HEAD")
}

// clone makes an ordinary clone.
func (o *origin) clone() *origin {
	o.tb.Helper()
	c := *o
	c.dir = filepath.Join(o.tb.TempDir(), "clone")
	o.git("clone", "--quiet", o.url(), c.dir)
	return &c
}

// commitOf returns the commit of a ref in a clone, or "" if the clone has no such ref.
func (o *origin) commitOf(ref string) string {
	for _, name := range []string{ref, "refs/remotes/origin/" + ref} {
		cmd := exec.Command(o.program, "rev-parse", "--verify", "--quiet", name+"^{commit}")
		cmd.Dir, cmd.Env = o.dir, o.environ
		if out, err := cmd.Output(); err == nil {
			return strings.TrimSpace(string(out))
		}
	}
	return ""
}

// raw stores an object that git itself wouldn't make.
func (o *origin) raw(kind, content string) string {
	o.tb.Helper()
	return o.gitInput(content, "hash-object", "-t", kind, "-w", "--stdin", "--literally")
}

// commitTree makes a commit of a tree, and a branch for it.
func (o *origin) commitTree(branch, tree string) string {
	o.tb.Helper()
	id := o.git("commit-tree", "-m", "m", tree)
	o.git("update-ref", "refs/heads/"+branch, id)
	return id
}

// url returns the URL by which a repository on this file system is fetched like a remote one.
func (o *origin) url() string { return fileURL(o.dir) }

// at returns a request for a ref.
func (o *origin) at(ref string) Request { return Request{URL: fileURL(o.dir), Ref: ref} }

func fileURL(dir string) string {
	return "file:///" + strings.TrimPrefix(filepath.ToSlash(dir), "/")
}

// bench is a Repositories value with its test environment.
type bench struct {
	*Repositories
	tb   testing.TB
	work string
	log  string // arguments of every git, a line for each; "" before count
}

func newBench(tb testing.TB) *bench {
	tb.Helper()
	_, environ := requireGit(tb)
	work := tb.TempDir()
	b := &bench{tb: tb, work: work, Repositories: &Repositories{Dir: filepath.Join(work, "store"), Environ: environ}}
	tb.Cleanup(b.Close)
	return b
}

// again returns a bench for a later run with the same store.
func (b *bench) again() *bench {
	fresh := *b
	fresh.Repositories = &Repositories{Dir: b.Dir, Environ: b.Environ, Program: b.Program}
	return &fresh
}

// count puts a script before git that logs its arguments.
func (b *bench) count() *bench {
	b.tb.Helper()
	needShell(b.tb)
	program, _ := requireGit(b.tb)
	b.log = filepath.Join(b.work, "log")
	b.Program = script(b.tb, filepath.Join(b.work, "counted-git"), `echo "$@" >>'`+b.log+`'; exec '`+program+`' "$@"`)
	return b
}

func script(tb testing.TB, path, body string) string {
	tb.Helper()
	must.Succeed(tb, peertest.WriteProgram(path, []byte("#!/bin/sh\n"+body+"\n")))
	return path
}

// runs returns how often each command of git was started since the last call.
func (b *bench) runs() map[string]int {
	b.tb.Helper()
	log, _ := os.ReadFile(b.log) // none: git wasn't started
	must.Succeed(b.tb, os.RemoveAll(b.log))
	runs := map[string]int{}
	for line := range strings.Lines(string(log)) {
		for _, name := range []string{"ls-remote", "fetch", "init", "rev-parse", "update-ref", "read-tree", "fsck", "config", "ls-tree"} {
			if strings.Contains(" "+strings.TrimSpace(line)+" ", " "+name+" ") {
				runs[name]++
				break
			}
		}
		runs["all"]++
	}
	return runs
}

// files checks out a request and returns the commit and the files.
func (b *bench) files(req Request) (commit string, files map[string]string) {
	b.tb.Helper()
	commit, dst, err := b.checkout(b.tb.Context(), req)
	must.Succeed(b.tb, err, req)
	return commit, peertest.Tree(b.tb, dst)
}

// store returns the path of the only store.
func (b *bench) store() string {
	b.tb.Helper()
	stores := must.Get(filepath.Glob(filepath.Join(b.Dir, "*.git")))(b.tb)
	must.Len(b.tb, stores, 1)
	return stores[0]
}

// refused returns the error of a request.
func (b *bench) refused(req Request) error {
	b.tb.Helper()
	return must.ErrorOf(b.checkout(b.tb.Context(), req))
}

func (b *bench) checkout(ctx context.Context, req Request) (commit, dst string, err error) {
	b.tb.Helper()
	parent := must.Get(os.MkdirTemp(b.work, "dst-"))(b.tb)
	dst = filepath.Join(parent, "module")
	commit, err = b.Checkout(ctx, req, dst)
	entries, _ := os.ReadDir(parent)
	for _, entry := range entries {
		if entry.Name() != "module" || err != nil {
			b.tb.Errorf("%+v has left %s behind (error %v)", req, entry.Name(), err)
		}
	}
	return commit, dst, err
}

func needShell(tb testing.TB) {
	if tb.Helper(); !peertest.RunsScripts() {
		tb.Skip("there is no shell for scripts")
	}
}
