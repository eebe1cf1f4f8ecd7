package oracle

import (
	"bytes"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// moduleWorld has the modules of the cases: git repositories,
// archives, and a registry of both.
//
// It is made from testdata/oracle_modules/world.txt. The files REPO@REF/... are
// the files of a repository at a tag, each tag with its own commit, in the order of
// commits. "registry" has lines "NAMESPACE/NAME/SYSTEM
// VERSION LOCATION".
type moduleWorld struct {
	registry *providertest.Registry
	ca       *providertest.CA
	dir      string               // the repositories are in dir/git
	commits  map[string]string    // by REPO@REF
	server   *providertest.Server // of repositories, over TLS
}

func newModuleWorld(t testing.TB) *moduleWorld {
	t.Helper()
	ca := harness.NewCA(t)
	w := &moduleWorld{registry: newOracleRegistry(t, ca), ca: ca, dir: t.TempDir(), commits: map[string]string{}}
	archive := must.Get(txtar.ParseFile(harness.Path(t, "testdata/oracle_modules/world.txt")))(t)
	w.serveGit(t)
	var refs []string
	files := map[string]map[string]string{}
	var registry string
	for _, f := range archive.Files {
		ref, name, isFile := strings.Cut(f.Name, "/")
		if !isFile {
			registry = string(f.Data)
			continue
		}
		if files[ref] == nil {
			files[ref] = map[string]string{}
			refs = append(refs, ref)
		}
		files[ref][name] = string(f.Data)
	}
	for _, ref := range refs {
		w.commit(t, ref, files[ref])
		w.archives(t, ref, files[ref])
	}
	w.publish(t)
	gitIn(t, w.dir, "init", "-q", "--template=", "--bare", "-b", "main", "git/empty.git")
	for line := range strings.Lines(registry) {
		field := strings.Fields(w.expand(line))
		id := strings.Split(field[0], "/")
		w.registry.AddModule(providertest.ModuleSpec{Namespace: id[0], Name: id[1], System: id[2], Version: field[1], Location: field[2]})
	}
	return w
}

// commit makes a commit with a tag, in a repository that is made if need be.
func (w *moduleWorld) commit(t testing.TB, ref string, files map[string]string) {
	t.Helper()
	repo, tag, _ := strings.Cut(ref, "@")
	work := filepath.Join(w.dir, "work", repo)
	if _, err := os.Stat(work); err != nil {
		gitIn(t, w.dir, "init", "-q", "--template=", "-b", "main", work)
	}
	gitIn(t, work, "rm", "-q", "-r", "--ignore-unmatch", ".")
	for name, content := range files {
		path := filepath.Join(work, filepath.FromSlash(name))
		must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Succeed(t, os.WriteFile(path, []byte(w.expand(content)), 0o644))
	}
	gitIn(t, work, "add", "-A")
	gitIn(t, work, "commit", "-q", "--allow-empty", "-m", ref)
	gitIn(t, work, "tag", tag)
	w.commits[ref] = strings.TrimSpace(gitIn(t, work, "rev-parse", "HEAD"))
}

// publish makes the bare repositories that are cloned.
func (w *moduleWorld) publish(t testing.TB) {
	t.Helper()
	for _, entry := range must.Get(os.ReadDir(filepath.Join(w.dir, "work")))(t) {
		work, bare := filepath.Join(w.dir, "work", entry.Name()), filepath.Join(w.dir, "git", entry.Name()+".git")
		gitIn(t, work, "branch", "-f", "release")
		gitIn(t, w.dir, "clone", "-q", "--template=", "--bare", work, bare)
		gitIn(t, bare, "update-server-info")
	}
}

// archives serves the files of a repository at a tag, as REPO-TAG.SUFFIX, and with
// everything in one directory as REPO-TAG-dir.SUFFIX.
func (w *moduleWorld) archives(t testing.TB, ref string, files map[string]string) {
	t.Helper()
	expanded, below := map[string]string{}, map[string]string{}
	for name, content := range files {
		expanded[name] = w.expand(content)
		below["top/"+name] = expanded[name]
	}
	name := strings.ReplaceAll(ref, "@", "-")
	for suffix, pack := range map[string]func(map[string]string) []byte{".tar.gz": providertest.TarGz, ".tgz": providertest.TarGz, ".zip": providertest.Zip} {
		w.registry.AddArchive(name+suffix, pack(expanded))
		w.registry.AddArchive(name+"-dir"+suffix, pack(below))
	}
	w.registry.AddArchive(name, providertest.TarGz(expanded))
}

// serveGit serves the repositories over TLS, with the certificate of the registry.
func (w *moduleWorld) serveGit(t testing.TB) {
	t.Helper()
	handler := &cgi.Handler{
		Path: must.Get(exec.LookPath("git"))(t), Args: []string{"http-backend"},
		Env: []string{"GIT_PROJECT_ROOT=" + filepath.Join(w.dir, "git"), "GIT_HTTP_EXPORT_ALL=1"},
	}
	server := harness.Start(t, providertest.NewServer, providertest.ServerOptions{CA: w.ca, Handler: handler})
	w.server = server
}

// expand replaces variables by URLs and paths.
func (w *moduleWorld) expand(text string) string {
	pairs := []string{
		"$GIT/", "git::file://" + filepath.ToSlash(w.dir) + "/git/",
		"$WORK/", filepath.ToSlash(w.dir) + "/work/",
		"$ARCHIVES/", "https://" + w.registry.Host() + "/archives/",
		"$REGISTRY", w.registry.Host(),
		"$PLATFORM", getproviders.CurrentPlatform().String(),
		"$HTTPGIT/", "git::" + w.server.BaseURL() + "/",
	}
	for ref, commit := range w.commits {
		pairs = append(pairs, "$COMMIT("+ref+")", commit)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// gitIn runs git without the machine's settings, and with the same commit hashes
// every time.
func gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = slices.Concat(os.Environ(), gitEnv(), []string{
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2020-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z",
	})
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	must.Succeed(t, err, strings.Join(args, " "), &stderr)
	return string(out)
}

// gitEnv keeps git from reading the machine's configuration.
func gitEnv() []string {
	return []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0"}
}
