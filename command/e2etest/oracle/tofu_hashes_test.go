package oracle

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// tofuHost is the one registry whose listed hashes OpenTofu records.
const tofuHost = "registry.opentofu.org"

// TestLock_RegistryHashesSameAsTofu has both programs make a lock file from a registry that lists
// the hashes of all platforms' packages, and complete one that lacks them. The addresses have a
// host, because the programs have different default ones.
func TestLock_RegistryHashesSameAsTofu(t *testing.T) {
	t.Parallel()
	tofu, err := providertest.PeerProgram("tofu")
	if err != nil || runtime.GOOS == "darwin" || runtime.GOOS == "windows" { // it isn't required
		t.Skipf("there is no tofu, or it doesn't read SSL_CERT_FILE on this system: %v", err)
	}
	ours := linkedAs(t, "tofu")
	registry, err := providertest.NewRegistry(providertest.Options{ListHashes: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(registry.Close)
	for i, plat := range []getproviders.Platform{{}, {OS: "plan9", Arch: "386"}, {OS: "plan9", Arch: "arm"}} {
		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: plat,
			Archive: providertest.Zip(map[string]string{"terraform-provider-widget": string(rune('a' + i))})})
	}
	env, err := registry.Env(t.TempDir(), tofuHost)
	if err != nil {
		t.Fatal(err)
	}
	fresh := func(program, lock string, more ...string) []string {
		dir := t.TempDir()
		harness.WriteFile(t, filepath.Join(dir, "main.tf"), []byte(`terraform {
  required_providers {
    widget = { source = "`+tofuHost+`/acme/widget" }
  }
}
`))
		if lock != "" {
			harness.WriteFile(t, filepath.Join(dir, ".terraform.lock.hcl"), []byte(lock))
		}
		cmd := exec.CommandContext(t.Context(), program, "init", "-no-color")
		cmd.Dir, cmd.Env = dir, harness.Env(t, slices.Concat(env, more, []string{"TFDEPS_TOFU_VERSION=" + testedTofu})...)
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", program, err, output)
		}
		return lockedHashes(t, dir)
	}
	got, theirs := fresh(ours, ""), fresh(tofu, "")
	if !slices.Equal(got, theirs) || len(got) != 6 {
		t.Errorf("tfdeps: %q\ntofu: %q", got, theirs)
	}
	read := fresh(ours, "", "TFDEPS_HASHES=read")
	if len(read) != 4 {
		t.Fatalf("what is read and signed: %q", read)
	}
	for _, known := range [][]string{read, read[:1]} {
		lock := fmt.Sprintf("provider %q {\n  version = \"1.0.0\"\n  hashes = [\"%s\"]\n}\n", tofuHost+"/acme/widget", strings.Join(known, `", "`))
		if got, want := fresh(ours, lock), fresh(tofu, lock); !slices.Equal(got, want) {
			t.Errorf("%stfdeps: %q\ntofu: %q", lock, got, want)
		}
	}
}

// lockedHashes are those in the lock file of a directory, sorted.
func lockedHashes(t *testing.T, dir string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, ".terraform.lock.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	hashes := regexp.MustCompile(`(h1|zh):[^"]+`).FindAllString(string(content), -1)
	slices.Sort(hashes)
	return hashes
}
