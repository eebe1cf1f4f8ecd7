package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// keepsArchivesInLFS has git LFS keep the packages, and takes them out of it again.
func (b vendorBuilds) keepsArchivesInLFS(t *testing.T) {
	requireProgram(t, "git-lfs")
	v := b.newVendoring(t)
	v.vendor(t, "-lfs")
	want := v.files(t, filepath.Join(v.dir, "terraform.d"))
	v.git(t, v.top, "lfs", "install", "--local")
	v.git(t, v.top, "add", ".")
	v.git(t, v.top, "commit", "-q", "-m", "vendored")
	if listed := v.git(t, v.top, "lfs", "ls-files"); !strings.Contains(listed, "env/terraform.d/plugins/") || strings.Contains(listed, "modules") {
		t.Errorf("LFS keeps\n%s", listed)
	}
	v.git(t, v.top, "lfs", "install") // in this test's home
	v.clone(t)
	sameFiles(t, "clone", want, v.files(t, filepath.Join(v.top, "clone", "env", "terraform.d")))
	clean := peerEnv(t, "CHECKPOINT_DISABLE=1")
	v.run(t, filepath.Join(v.top, "clone", "env"), clean, v.program, "vendor", "-check", "-prune")
	v.run(t, filepath.Join(v.top, "clone", "env"), clean, v.program, "init")

	v.git(t, v.top, "lfs", "uninstall")
	v.git(t, v.top, "lfs", "uninstall", "--local")
	v.clone(t) // has nothing but pointers
	cmd := exec.CommandContext(t.Context(), v.program, "vendor", "-check")
	cmd.Dir, cmd.Env = filepath.Join(v.top, "clone", "env"), clean
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(unwrapped(string(out)), "git lfs pull") {
		t.Errorf("without LFS: %v\n%s", err, out)
	}
	v.vendor(t, "-lfs=false")
	if content, _ := os.ReadFile(filepath.Join(v.dir, ".gitattributes")); strings.Contains(string(content), "lfs") {
		t.Errorf("%s", content)
	}
}

// unwrapped is output as if a line had room for all of it.
func unwrapped(out string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(out, "│", "")), " ")
}

// worksWithOpenTofu initializes a clone with the other product.
func (b vendorBuilds) worksWithOpenTofu(t *testing.T) {
	lookTofu(t)
	if runtime.GOOS != "linux" || exec.Command("unshare", "-n", "true").Run() != nil {
		t.Skip("this user can't make a network namespace")
	}
	for _, how := range []string{"-unpacked=false", "-unpacked"} {
		v := b.newVendoring(t)
		v.vendor(t, how)
		v.git(t, v.top, "add", ".")
		v.git(t, v.top, "commit", "-q", "-m", "vendored")
		v.clone(t)
		clean := peerEnv(t, "CHECKPOINT_DISABLE=1")
		for _, line := range [][]string{{"tofu", "init", "-input=false"}, {"tofu", "validate"}, {"tofu", "plan", "-input=false"}} {
			v.run(t, filepath.Join(v.top, "clone", "env"), clean, "unshare", append([]string{"-n"}, line...)...)
		}
		if left := v.git(t, filepath.Join(v.top, "clone"), "status", "--porcelain"); left != "" {
			t.Errorf("tofu init changed\n%s", left)
		}
	}
}

// warnsOfLargeFiles has a file that services for git repositories refuse.
func (b vendorBuilds) warnsOfLargeFiles(t *testing.T) {
	v := b.newVendoring(t)
	if out := v.vendor(t); strings.Contains(out, "Large files") {
		t.Errorf("%s", out)
	}
	large := filepath.Join(v.dir, "terraform.d", "plugins", "large")
	for bytes, want := range map[int64]string{51 << 20: "none above 100 MiB.", 101 << 20: "none above 100 MiB, which there are."} {
		writeFile(t, large, nil)
		if err := os.Truncate(large, bytes); err != nil {
			t.Fatal(err)
		}
		out := unwrapped(v.vendor(t))
		if !strings.Contains(out, "Large files") || !strings.Contains(out, want) || !strings.Contains(out, "- terraform.d/plugins/large (") {
			t.Errorf("%d bytes: %s", bytes, out)
		}
	}
	if out := v.vendor(t, "-lfs"); strings.Contains(out, "Large files") {
		t.Errorf("LFS keeps them, and there is %s", out)
	}
}
