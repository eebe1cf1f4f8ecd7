package vendored

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/filelock"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// keepsArchivesInLFS has git LFS keep the packages, and takes them out of it again.
func (b vendorBuilds) keepsArchivesInLFS(t *testing.T) {
	harness.RequireProgram(t, "git-lfs")
	v := b.newVendoring(t)
	v.vendor(t, "-lfs")
	want := harness.Files(t, filepath.Join(v.dir, "terraform.d"))
	v.git(t, v.top, "lfs", "install", "--local")
	v.git(t, v.top, "add", ".")
	v.git(t, v.top, "commit", "-q", "-m", "vendored")
	if listed := v.git(t, v.top, "lfs", "ls-files"); !strings.Contains(listed, "env/terraform.d/plugins/") || strings.Contains(listed, "modules") {
		t.Errorf("LFS keeps\n%s", listed)
	}
	v.git(t, v.top, "lfs", "install") // in this test's home
	v.clone(t)
	sameFiles(t, "clone", want, harness.Files(t, filepath.Join(v.top, "clone/env/terraform.d")))
	clean := harness.Env(t, "CHECKPOINT_DISABLE=1")
	v.run(t, filepath.Join(v.top, "clone/env"), clean, v.program, "vendor", "-check", "-prune")
	v.run(t, filepath.Join(v.top, "clone/env"), clean, v.program, "init")

	v.git(t, v.top, "lfs", "uninstall")
	v.git(t, v.top, "lfs", "uninstall", "--local")
	v.clone(t) // has nothing but pointers
	harness.Refuses(t, "git lfs pull", filepath.Join(v.top, "clone/env"), clean, v.program, "vendor", "-check")
	v.vendor(t, "-lfs=false")
	if content, _ := os.ReadFile(filepath.Join(v.dir, ".gitattributes")); strings.Contains(string(content), "lfs") {
		t.Errorf("%s", content)
	}
}

// worksWithOpenTofu initializes a clone with the other product.
func (b vendorBuilds) worksWithOpenTofu(t *testing.T) {
	harness.LookTofu(t)
	if runtime.GOOS != "linux" || exec.Command("unshare", "-n", "true").Run() != nil {
		t.Skip("this user can't make a network namespace")
	}
	b.archive = harness.PackedProvider(t)
	for _, how := range []string{"-unpacked=false", "-unpacked"} {
		v := b.newVendoring(t)
		v.vendor(t, how)
		v.git(t, v.top, "add", ".")
		v.git(t, v.top, "commit", "-q", "-m", "vendored")
		v.clone(t)
		clean := harness.PluginEnv(t, "CHECKPOINT_DISABLE=1")
		for _, line := range [][]string{{"tofu", "init", "-input=false"}, {"tofu", "plan", "-input=false"}} {
			v.run(t, filepath.Join(v.top, "clone/env"), clean, "unshare", append([]string{"-n"}, line...)...)
		}
		must.Equal(t, v.git(t, filepath.Join(v.top, "clone"), "status", "--porcelain"), "")
	}
}

// warnsOfLargeFiles has a file that services for git repositories refuse.
func (b vendorBuilds) warnsOfLargeFiles(t *testing.T) {
	v := b.newVendoring(t)
	must.NotContain(t, v.vendor(t), "Large files")
	large := filepath.Join(v.dir, "terraform.d/plugins/large")
	for bytes, want := range map[int64]string{51e6: "none above 100 MB.", 101e6: "none above 100 MB; some here are larger."} {
		must.Write(t, large, "")
		must.Succeed(t, os.Truncate(large, bytes))
		out := harness.OneLine(v.vendor(t))
		if !strings.Contains(out, "Large files") || !strings.Contains(out, want) || !strings.Contains(out, "- terraform.d/plugins/large (") {
			t.Errorf("%d bytes: %s", bytes, out)
		}
	}
	must.NotContain(t, v.vendor(t, "-lfs"), "Large files")
}

// fresh removes all that was vendored.
func (v *vendoring) fresh(t *testing.T) {
	t.Helper()
	for _, name := range []string{".terraform", "terraform.d", ".terraform.lock.hcl", ".gitattributes"} {
		must.Succeed(t, os.RemoveAll(filepath.Join(v.dir, name)))
	}
	must.Write(t, filepath.Join(v.dir, ".gitignore"), ".terraform/\n*.tfvars\n")
}

// isEndedAtAnyTime interrupts and kills runs at random times. The next complete run
// has the same result as one in a fresh directory.
func (b vendorBuilds) isEndedAtAnyTime(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process can't be interrupted there")
	}
	for _, signal := range []os.Signal{os.Interrupt, os.Kill} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			b.isEndedBy(t, signal)
		})
	}
}

func (b vendorBuilds) isEndedBy(t *testing.T, signal os.Signal) {
	v := b.newVendoring(t)
	v.vendor(t)
	want := harness.Files(t, v.top)
	v.registry.Break("archive", providertest.Fault{Pause: 4 * time.Millisecond}) // so that most runs take longer than the longest wait
	ended := 0
	for range peertest.Rounds(4, 25) {
		v.fresh(t)
		cmd := exec.CommandContext(t.Context(), v.program, "vendor")
		cmd.Dir, cmd.Env = v.dir, v.env
		must.Succeed(t, cmd.Start())
		timer := time.AfterFunc(time.Duration(rand.IntN(200))*time.Millisecond, func() { _ = cmd.Process.Signal(signal) })
		if cmd.Wait() != nil {
			ended++
		}
		timer.Stop()
		v.waitForLocks(t)
		v.vendor(t)
		sameFiles(t, "after "+signal.String(), want, v.visible(t))
		if t.Failed() {
			return
		}
	}
	if ended == 0 {
		t.Error("no run was ended")
	}
}

// waitForLocks waits until the locks of a killed run are free. A git that it was just starting has them, too, until
// that runs, and on a machine with much to do this can take longer than the next run.
func (v *vendoring) waitForLocks(t *testing.T) {
	t.Helper()
	var locks []string
	for _, dir := range []string{".terraform/*", "terraform.d/*"} {
		found := must.Get(filepath.Glob(filepath.Join(v.dir, dir, ".tfdeps-*/.lock")))(t)
		locks = append(locks, found...)
	}
	for deadline := time.Now().Add(time.Minute); len(locks) > 0; {
		file, err := filelock.TryExisting(locks[0])
		switch {
		case err == nil:
			file.Close()
			locks = locks[1:]
		case errors.Is(err, fs.ErrNotExist):
			locks = locks[1:]
		case !errors.Is(err, filelock.ErrHeld) || time.Now().After(deadline):
			t.Fatal(err)
		default:
			time.Sleep(time.Millisecond)
		}
	}
}

// visible are the files without those of a directory that a killed run had just
// made, and hadn't locked yet: only its age will tell that no process works in it.
func (v *vendoring) visible(t *testing.T) map[string]harness.File {
	t.Helper()
	files := harness.Files(t, v.top)
	for name := range files {
		if strings.Contains(name, "/.tfdeps-") && strings.HasSuffix(name, "/.lock.new") {
			delete(files, name)
		}
	}
	return files
}

// runsAtOnce has two runs in one directory at the same time.
func (b vendorBuilds) runsAtOnce(t *testing.T) {
	v := b.newVendoring(t)
	v.vendor(t)
	want := harness.Files(t, v.top)
	for range peertest.Rounds(2, 5) {
		v.fresh(t)
		var runs []*exec.Cmd
		for range 2 {
			cmd := exec.CommandContext(t.Context(), v.program, "vendor")
			cmd.Dir, cmd.Env = v.dir, v.env
			must.Succeed(t, cmd.Start())
			runs = append(runs, cmd)
		}
		for _, cmd := range runs {
			_ = cmd.Wait() // one may find what the other is just replacing
		}
		v.vendor(t)
		sameFiles(t, "after two", want, harness.Files(t, v.top))
	}
}
