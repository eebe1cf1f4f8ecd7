package sessions

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	modzip "golang.org/x/mod/zip"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// goInstall is how README and the recipes for CI install tfdeps until there is a release.
const goInstall = "go install github.com/tfdeps/tfdeps@main"

// TestGoInstall_MakesTheProgram installs the checkout as the pages say, from a module proxy of files: the module has to be complete without
// the nested modules. All pages have the same command.
func TestGoInstall_MakesTheProgram(t *testing.T) {
	t.Parallel()
	for _, page := range pageNames(t) {
		for _, command := range regexp.MustCompile(`go install [^\s"'`+"`"+`]+`).FindAllString(harness.ReadText(t, harness.Path(t, filepath.FromSlash(page))), -1) {
			must.Equal(t, command, goInstall, page)
		}
	}
	t.Run("as they say", installs)
}

func installs(t *testing.T) {
	if !peertest.All() {
		t.Skip("it compiles all of the program; .ci/run does it")
	}
	const path = "github.com/tfdeps/tfdeps"
	version := versionOf(t, path)
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
	must.Succeed(t, modzip.CreateFromDir(archive, module.Version{Path: path, Version: version}, harness.Path(t)))
	must.Succeed(t, archive.Close())

	bin := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", strings.Fields(goInstall)[1:]...)
	cmd.Dir = t.TempDir()
	// The module lies in this machine's module cache until the test ends: in one of its own, all others would be compiled again.
	modules := strings.TrimSpace(string(must.Get(exec.Command("go", "env", "GOMODCACHE").Output())(t)))
	t.Cleanup(func() { forgetModule(t, modules, path, version) })
	cmd.Env = append(os.Environ(), "GOBIN="+bin, "GOFLAGS="+os.Getenv("GOFLAGS")+" -modcacherw", "GOPROXY=file://"+filepath.ToSlash(proxy), "GOSUMDB=off", "GOWORK=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	must.Succeed(t, err, string(out))
	out, err = exec.CommandContext(t.Context(), filepath.Join(bin, "tfdeps"+harness.ExeSuffix()), "version").CombinedOutput()
	must.Succeed(t, err)
	must.Contain(t, string(out), "+ tfdeps "+strings.TrimPrefix(version, "v"))
}

// versionOf returns a version for the module's present content. Go remembers what is in a version, so no two contents may have the same.
func versionOf(t *testing.T, path string) string {
	t.Helper()
	content := sha256.New()
	none := module.Version{Path: path, Version: "v0.0.0-20260102030405-000000000000"}
	must.Succeed(t, modzip.CreateFromDir(content, none, harness.Path(t)))
	return fmt.Sprintf("v0.0.0-20260102030405-%.6x", content.Sum(nil))
}

// forgetModule removes a version of a module from the module cache.
func forgetModule(t *testing.T, modules, path, version string) {
	path = filepath.FromSlash(path)
	downloaded := filepath.Join(modules, "cache", "download", path, "@v")
	files, _ := filepath.Glob(filepath.Join(downloaded, version+".*"))
	for _, file := range append(files, filepath.Join(downloaded, "main.info"), filepath.Join(modules, path+"@"+version)) {
		must.Succeed(t, os.RemoveAll(file))
	}
}

// quickstartPackages are the packages below testdata/quickstart, for each of
// quickstartPlatforms. They aren't run, because the quick start only shows how they are
// installed.
var quickstartPackages = []struct{ name, version, says string }{
	{"greeting", "1.2.0", "hello"},
	{"farewell", "0.3.1", "good-bye"},
}

var quickstartPlatforms = func() (all []getproviders.Platform) {
	for _, system := range []string{"darwin", "freebsd", "linux", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			all = append(all, getproviders.Platform{OS: system, Arch: arch})
		}
	}
	return all
}()

// TestQuickstart_IsWhole proves that the archives of the quick start are what this file says, and that the lock file knows them, whatever the
// system of those who try it. With TFDEPS_UPDATE=1 it writes the archives.
func TestQuickstart_IsWhole(t *testing.T) {
	dir := harness.Path(t, "testdata", "quickstart")
	locks, problems := depsfile.Load(filepath.Join(dir, depsfile.FileName), getproviders.Terraform("1.15.9"))
	must.Len(t, problems, 0)
	for _, p := range quickstartPackages {
		content := quickstartArchive(t, p.name, p.version, p.says)
		lock, _ := locks.Provider(getproviders.Provider{Hostname: "example.com", Namespace: "quickstart", Type: p.name})
		must.Equal(t, lock.Version.String(), p.version, p.name)
		for _, platform := range quickstartPlatforms {
			path := filepath.Join(dir, "terraform.d/plugins/example.com/quickstart", p.name, fmt.Sprintf("terraform-provider-%s_%s_%s.zip", p.name, p.version, platform))
			if os.Getenv("TFDEPS_UPDATE") == "1" {
				must.Write(t, path, content)
			}
			if !bytes.Equal(must.Get(os.ReadFile(path))(t), content) {
				t.Errorf("%s is not what it should be; TFDEPS_UPDATE=1 makes it so", path)
			}
			h1 := must.Get(dirhash.HashZip(path, dirhash.Hash1))(t)
			must.Equal(t, slices.Contains(lock.Hashes, getproviders.Hash(h1)), true, path, h1)
		}
	}
}

// quickstartArchive makes a package. Nothing is compressed, so that the bytes
// are the same with every version of Go.
func quickstartArchive(t *testing.T, name, version, says string) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, file := range []struct{ name, content string }{
		{"README.md", fmt.Sprintf("# %s\n\nA provider for the quick start of tfdeps. It does nothing.\n", name)},
		{fmt.Sprintf("terraform-provider-%s_v%s", name, version), fmt.Sprintf("#!/bin/sh\necho %s\n", says)},
	} {
		header := &zip.FileHeader{
			Name:               file.name,
			Method:             zip.Store,
			CRC32:              crc32.ChecksumIEEE([]byte(file.content)),
			CompressedSize64:   uint64(len(file.content)),
			UncompressedSize64: uint64(len(file.content)),
		}
		header.SetMode(0o755)
		w := must.Get(archive.CreateRaw(header))(t)
		must.Get(w.Write([]byte(file.content)))(t)
	}
	must.Succeed(t, archive.Close())
	return out.Bytes()
}
