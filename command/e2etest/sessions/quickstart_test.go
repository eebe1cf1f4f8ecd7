package sessions

import (
	"archive/zip"
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// quickstartPackages are the packages below testdata/quickstart, for each of
// quickstartPlatforms. They aren't run: all that is shown is how they get
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
