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
	// All other modules come from this machine's module cache, into one that is removed afterwards.
	others := strings.TrimSpace(string(must.Get(exec.Command("go", "env", "GOMODCACHE").Output())(t))) + "/cache/download"
	cmd.Env = append(os.Environ(), "GOBIN="+bin, "GOMODCACHE="+t.TempDir(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -modcacherw", "GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(others), "GOSUMDB=off", "GOWORK=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	must.Succeed(t, err, string(out))
	out, err = exec.CommandContext(t.Context(), filepath.Join(bin, "tfdeps"+harness.ExeSuffix()), "version").CombinedOutput()
	must.Succeed(t, err)
	must.Contain(t, string(out), "+ tfdeps "+strings.TrimPrefix(version, "v"))
}
