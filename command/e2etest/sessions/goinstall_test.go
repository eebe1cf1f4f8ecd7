package sessions

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// goInstall is how README and the recipes for CI install tfdeps until there is a release.
const goInstall = "go install github.com/tfdeps/tfdeps@main"

// TestGoInstall_MakesTheProgram installs the checkout as the pages say, from a module proxy of files: the module has to be whole without
// what is in modules of their own. No page has another command.
func TestGoInstall_MakesTheProgram(t *testing.T) {
	t.Parallel()
	for _, page := range pageNames(t) {
		for _, command := range regexp.MustCompile(`go install [^\s"'`+"`"+`]+`).FindAllString(harness.ReadText(t, harness.Path(t, filepath.FromSlash(page))), -1) {
			must.Equal(t, command, goInstall, page)
		}
	}
	if !peertest.All() {
		t.Skip("it compiles all of the program; TFDEPS_TEST_PEERS=all runs it, as .ci/run does")
	}
	const path, version = "github.com/tfdeps/tfdeps", "v0.0.0-20260102030405-0123456789ab"
	proxy := filepath.Join(t.TempDir(), "proxy")
	dir := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	must.Succeed(t, os.MkdirAll(dir, 0o755))
	info := must.Get(json.Marshal(map[string]string{"Version": version, "Time": "2026-01-02T03:04:05Z"}))(t)
	for _, name := range []string{"main.info", version + ".info"} {
		must.Write(t, filepath.Join(dir, name), info)
	}
	must.Write(t, filepath.Join(dir, "list"), version+"\n")
	must.Write(t, filepath.Join(dir, version+".mod"), must.Get(os.ReadFile(harness.Path(t, "go.mod")))(t))
	archive := must.Get(os.Create(filepath.Join(dir, version+".zip")))(t)
	must.Succeed(t, zip.CreateFromDir(archive, module.Version{Path: path, Version: version}, harness.Path(t)))
	must.Succeed(t, archive.Close())

	bin := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", strings.Fields(goInstall)[1:]...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOBIN="+bin, "GOMODCACHE="+besideModules(t), "GOPROXY=file://"+filepath.ToSlash(proxy), "GOSUMDB=off", "GOWORK=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	must.Succeed(t, err, string(out))
	out, err = exec.CommandContext(t.Context(), filepath.Join(bin, "tfdeps"+harness.ExeSuffix()), "version").CombinedOutput()
	must.Succeed(t, err)
	must.Contain(t, string(out), "+ tfdeps "+strings.TrimPrefix(version, "v"))
}

// besideModules is a module cache that has the modules of this machine's, and in which another one can be put without a trace there.
func besideModules(t *testing.T) string {
	t.Helper()
	cache := strings.TrimSpace(string(must.Get(exec.Command("go", "env", "GOMODCACHE").Output())(t)))
	beside := t.TempDir()
	t.Cleanup(func() { // Go makes what it unpacks read-only
		_ = filepath.WalkDir(beside, func(path string, entry os.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				_ = os.Chmod(path, 0o755)
			}
			return err
		})
	})
	for _, open := range []string{"", "cache", "cache/download", "cache/download/github.com", "github.com"} {
		entries := must.Get(os.ReadDir(filepath.Join(cache, filepath.FromSlash(open))))(t)
		must.Succeed(t, os.MkdirAll(filepath.Join(beside, filepath.FromSlash(open)), 0o755))
		for _, entry := range entries {
			name := filepath.Join(filepath.FromSlash(open), entry.Name())
			switch filepath.ToSlash(name) {
			case "cache", "cache/download", "cache/download/github.com", "github.com", "cache/lock", "github.com/tfdeps", "cache/download/github.com/tfdeps":
			default:
				if err := must.Symlink(filepath.Join(cache, name), filepath.Join(beside, name)); err != nil {
					t.Skipf("no links here: %v", err)
				}
			}
		}
	}
	return beside
}
