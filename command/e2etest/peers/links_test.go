package peers

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// linkedHost is the host of the provider that the directories of a sharedStore need.
const linkedHost = "tf.example.com"

// lockFile is the name of the dependency lock file.
const lockFile = ".terraform.lock.hcl"

// The content of the package's file in each build.
const (
	firstBuild = "the first build"
	otherBuild = "the other build, and longer"
)

// sharedStore is a store with a package that two directories have, and two registries
// which have a build each of that package, under the same version.
type sharedStore struct {
	t             *testing.T
	tfdeps        string
	mode          string   // of linking
	env, otherEnv []string // in which the first registry answers, and the other one
	work, play    string   // the directories
	file          string   // the package's file, in the store
	lock          string   // the lock file that both directories have at first
}

func newSharedStore(t *testing.T, mode, build string) *sharedStore {
	t.Helper()
	s := &sharedStore{t: t, tfdeps: harness.Tfdeps(t), mode: mode, work: t.TempDir(), play: t.TempDir()}
	home := harness.PinnedEnv(t, "CHECKPOINT_DISABLE=1", "TFDEPS_CACHE_DIR="+t.TempDir())
	s.env = append(home[:len(home):len(home)], registryWith(t, build)...)
	s.otherEnv = append(home[:len(home):len(home)], registryWith(t, otherBuild)...)
	for _, dir := range []string{s.work, s.play} {
		must.Write(t, filepath.Join(dir, "main.tf"),
			"terraform {\n  required_providers {\n    aaa = { source = \""+linkedHost+"/acme/aaa\" }\n  }\n}\n")
		s.init(dir)
	}
	s.file = filepath.Join(strings.TrimSpace(harness.Run(t, s.work, s.env, s.tfdeps, "cache", "dir")), packageFile())
	s.lock = harness.LockOf(t, s.play)
	return s
}

// registryWith starts a registry that has a build, and returns the variables by which programs find it.
func registryWith(t *testing.T, build string) []string {
	t.Helper()
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{})
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "aaa", Version: "1.0.0",
		Archive: providertest.Zip(map[string]string{"terraform-provider-aaa_v1.0.0": build})})
	return harness.Redirect(t, registry, linkedHost)
}

// packageFile returns the path of the package's file in a store.
func packageFile() string {
	return filepath.Join(linkedHost, "acme/aaa/1.0.0", runtime.GOOS+"_"+runtime.GOARCH, "terraform-provider-aaa_v1.0.0")
}

// installed returns the path of the package's file in a directory.
func installed(dir string) string {
	return filepath.Join(dir, ".terraform/providers", packageFile())
}

// init runs tfdeps init in a directory.
func (s *sharedStore) init(dir string) {
	s.t.Helper()
	harness.Run(s.t, dir, s.env, s.tfdeps, "init", "-link="+s.mode)
}

// exits runs a program in a directory, which has to end with an exit code.
func (s *sharedStore) exits(code int, dir string, line ...string) (said string) {
	s.t.Helper()
	end := harness.Exec(s.t, dir, s.env, line...)
	must.Equal(s.t, end.Code, code, line[1:])
	return end.Said()
}

// differs checks that all commands find the right package in a directory, or that all report another one.
func (s *sharedStore) differs(dir string, is bool) {
	s.t.Helper()
	code := map[bool]int{true: 2}[is]
	said := s.exits(code, dir, s.tfdeps, "init", "-check") + s.exits(code, dir, s.tfdeps, "providers", "verify")
	if is && (!strings.Contains(said, "package_differs") || !strings.Contains(said, "Differs: "+linkedHost+"/acme/aaa 1.0.0")) {
		s.t.Errorf("it says %s", said)
	}
}

// holds checks the content of a file.
func (s *sharedStore) holds(path, want string) {
	s.t.Helper()
	must.Equal(s.t, harness.ReadText(s.t, path), want, path)
}

// replaceByTerraform installs the other build with the real terraform init in the second
// directory, without its lock file.
func (s *sharedStore) replaceByTerraform() {
	s.t.Helper()
	must.Succeed(s.t, os.Remove(filepath.Join(s.play, lockFile)))
	harness.Run(s.t, s.play, s.otherEnv, harness.LookTerraform(s.t), "init")
	s.holds(installed(s.play), otherBuild)
}

// refusedByTerraform reports whether the real terraform init refuses to install through a symlink, as
// 1.15.4 and newer do, and checks that the store doesn't change then.
func (s *sharedStore) refusedByTerraform() bool {
	s.t.Helper()
	if s.mode != "symlink" || harness.PeerOlderThan(s.t, "1.15.4") {
		return false
	}
	must.Succeed(s.t, os.Remove(filepath.Join(s.play, lockFile)))
	before, env := harness.ReadText(s.t, s.file), s.env
	s.env = s.otherEnv
	must.Contain(s.t, harness.OneLine(s.exits(1, s.play, harness.LookTerraform(s.t), "init", "-no-color")), "because it is a symlink")
	s.env = env
	s.holds(s.file, before)
	s.differs(s.work, false)
	s.init(s.play)
	s.differs(s.play, false)
	return true
}

// linkModes are the ways of linking, and whether the real terraform init writes to the store by them.
// Where the file system can't clone, clones are copies.
var linkModes = map[string]bool{"symlink": true, "hardlink": true, "copy": false, "clone": false}

// eachLinkMode runs a test with a store for each way of linking by which the real terraform init installs over a package.
func eachLinkMode(t *testing.T, build string, test func(t *testing.T, s *sharedStore, shares bool)) {
	harness.LookTerraform(t)
	for mode, shares := range linkModes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			if err := must.Symlink("x", filepath.Join(t.TempDir(), "link")); err != nil && mode == "symlink" {
				t.Skip("no symbolic links here: ", err)
			}
			if s := newSharedStore(t, mode, build); !s.refusedByTerraform() {
				test(t, s, shares)
			}
		})
	}
}

// TestLink_AnotherBuildOfTerraformInitIsNoticedAndMended: the real terraform init unpacks in
// place over a package without a lock entry. Through symlinks and hard links it so
// writes to the store and to all directories. All commands notice that,
// and one run of tfdeps in each directory repairs the store, by a new file, and the directory.
func TestLink_AnotherBuildOfTerraformInitIsNoticedAndMended(t *testing.T) {
	t.Parallel()
	terraform := harness.LookTerraform(t)
	eachLinkMode(t, firstBuild, func(t *testing.T, s *sharedStore, shares bool) {
		before := must.Get(os.Stat(s.file))(t)
		os.SameFile(before, before) // Windows looks for the file's number only now
		s.replaceByTerraform()
		s.differs(s.play, false) // its new lock file has that build
		s.differs(s.work, shares)
		s.exits(map[bool]int{true: 2}[shares], s.work, s.tfdeps, "cache", "verify")
		s.holds(s.file, map[bool]string{true: otherBuild, false: firstBuild}[shares])
		// The file is no program: the test checks whether terraform tries to start it.
		const refused = "does not match any of the checksums recorded in the dependency lock file"
		must.Equal(t, strings.Contains(s.exits(1, s.work, terraform, "plan", "-no-color"), refused), shares)

		// The lock file comes back, as from git, and tfdeps runs.
		must.Write(t, filepath.Join(s.play, lockFile), s.lock)
		s.differs(s.play, true)
		s.init(s.play)
		s.differs(s.play, false)
		s.holds(installed(s.play), firstBuild)
		s.holds(s.file, firstBuild)
		s.exits(0, s.work, s.tfdeps, "cache", "verify")
		after, err := os.Stat(s.file)
		if err != nil || os.SameFile(before, after) == shares {
			t.Errorf("the store has the same file: %v, %v", os.SameFile(before, after), err)
		}
		s.differs(s.work, s.mode == "hardlink") // which still has the old file
		s.init(s.work)
		s.differs(s.work, false)
		s.holds(installed(s.work), firstBuild)
	})
}

// TestLink_TheOtherDirectoryIsMendedFirst: tfdeps in a directory in which terraform init didn't run repairs
// the store, too. The directory where it ran keeps its build and its lock file, except with a
// symlink to the store's build, which commands report.
func TestLink_TheOtherDirectoryIsMendedFirst(t *testing.T) {
	t.Parallel()
	eachLinkMode(t, firstBuild, func(t *testing.T, s *sharedStore, _ bool) {
		s.replaceByTerraform()
		s.init(s.work)
		s.differs(s.work, false)
		s.holds(installed(s.work), firstBuild)
		s.holds(s.file, firstBuild)
		s.exits(0, s.work, s.tfdeps, "cache", "verify")
		s.differs(s.play, s.mode == "symlink")
		s.holds(installed(s.play), map[bool]string{true: firstBuild, false: otherBuild}[s.mode == "symlink"])
	})
}

// TestLink_TerraformInitFailsWhereAProviderRuns: a program that runs can't be written to, so
// terraform init fails in a directory that shares its file, and leaves it. tfdeps
// puts the other build into that directory, and leaves the store's package to those that have it.
func TestLink_TerraformInitFailsWhereAProviderRuns(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("other systems let it be written to, or are strict in other ways")
	}
	terraform := harness.LookTerraform(t)
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("there is no sleep")
	}
	program := harness.ReadText(t, sleep)
	eachLinkMode(t, program, func(t *testing.T, s *sharedStore, shares bool) {
		running := exec.CommandContext(t.Context(), installed(s.work), "600")
		running.Args[0] = "sleep" // some sleep programs are multi-call binaries that need their name
		must.Succeed(t, running.Start())
		t.Cleanup(func() {
			_ = running.Process.Kill()
			_ = running.Wait()
		})
		if !shares {
			s.replaceByTerraform()
			s.differs(s.work, false)
			return
		}
		must.Succeed(t, os.Remove(filepath.Join(s.play, lockFile)))
		s.env = s.otherEnv
		must.Contain(t, s.exits(1, s.play, terraform, "init", "-no-color"), "text file busy")
		s.init(s.play)
		s.holds(installed(s.play), otherBuild)
		s.differs(s.play, false)
		s.differs(s.work, false)
		s.holds(s.file, program)
	})
}
