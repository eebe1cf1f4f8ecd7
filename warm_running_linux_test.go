package main

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// TestAProviderRunsWhileFiftyProcessesInstall: it is the cache's own file, which
// nobody could write to, and nobody does.
func TestAProviderRunsWhileFiftyProcessesInstall(t *testing.T) {
	t.Parallel()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	content, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, buildTfdeps(t), 10)
	s.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "p0", Version: "1.2.0", Archive: zipWith(t, "terraform-provider-p0", content)})
	add := exec.CommandContext(t.Context(), s.program, "cache", "add", s.registry.Host()+"/acme/p0")
	add.Env = s.env
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cached := filepath.Join(s.cache, "providers", "v1", s.registry.Host(), "acme", "p0", "1.2.0", getproviders.CurrentPlatform().String(), "terraform-provider-p0")
	running := exec.CommandContext(t.Context(), cached, "600")
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = running.Process.Kill(); _ = running.Wait() })
	before, err := os.Stat(cached)
	if err != nil {
		t.Fatal(err)
	}
	s.fifty(t)
	if err := running.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("it doesn't run any more: %v", err)
	}
	after, err := os.Stat(cached)
	if err != nil || !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("its file was %v and is %v, %v", before, after, err)
	}
}

// zipWith makes an archive of one program.
func zipWith(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	header := &zip.FileHeader{Name: name, Method: zip.Deflate}
	header.SetMode(0o755)
	entry, err := w.CreateHeader(header)
	if err == nil {
		_, err = entry.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}
