package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// TestCommands_RecoverFromAFaultAtEachStep kills the command at the nth rename,
// or makes it fail as on a broken or a full disk; on other systems than Linux it kills at some moments. The error is clear, and the next run
// has the same result as one without a fault.
func TestCommands_RecoverFromAFaultAtEachStep(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	const inCache = "cache add -locked ."
	for name, lines := range map[string][]string{ // after a line, other lines that have to run before it; "clean" removes everything except archives and shared directories
		"lock": {"providers lock"}, "mirror": {"providers mirror out"}, "vendor": {"vendor"}, "get": {"get"}, "init recursive": {"init -recursive"},
		"vendor archive": {"vendor -o out/archive.tar"}, "vendor unpack": {"vendor -unpack=../archive.tar", "vendor -o ../archive.tar", "clean"},
		"cache add": {inCache}, "cache gc": {"cache gc -max-size=0", inCache},
		"vendor remote modules": {"vendor"}, "get remote modules": {"get"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recovers(t, strings.Fields(lines[0]), lines[1:], strings.HasSuffix(name, "remote modules"))
		})
	}
}

// faults are the faults, as strace calls them, the expected error, and at how many calls each is tried, in a plain and
// in a full run; with TFDEPS_TEST_KILLS at all calls.
var faults = []struct {
	inject, said string
	few, calls   int
}{
	{"signal=KILL", "", 2, 4}, {"error=EIO", "input/output error", 1, 2}, {"error=ENOSPC", "no space left on device", 0, 1},
}

func recovers(t *testing.T, args, before []string, remote bool) {
	s, dir := newSiteWithModule(t)
	if remote {
		callRemoteModules(t, s, dir)
	}
	if slices.Contains(args, "-recursive") {
		must.Write(t, filepath.Join(dir, "live", "main.tf"), harness.ReadText(t, filepath.Join(dir, "main.tf"))+"\nterraform {\n  backend \"local\" {}\n}\n")
	}
	s.init(t, dir) // for the lock file
	temporary := t.TempDir()
	env := append(slices.Clone(s.env), "TMPDIR="+temporary)
	clean := func() {
		s.forget(t, dir, ".terraform", "out", "terraform.d", "live/.terraform", "live/"+depsfile.FileName)
	}
	line := slices.Concat([]string{s.program}, args, []string{"-no-color"})
	run := func() harness.Ended { return harness.Exec(t, dir, env, line...) }
	prepare := func() {
		clean()
		for _, line := range before {
			if line == "clean" {
				clean()
				continue
			}
			harness.Run(t, dir, s.env, append([]string{s.program}, strings.Fields(line)...)...)
		}
		must.Succeed(t, os.MkdirAll(filepath.Join(dir, "out"), 0o755))
	}
	prepare()
	there := packagesBelow(t, s.cache)
	end := run()
	must.Equal(t, end.Code, 0, end)
	cached, lock := packagesBelow(t, s.cache), harness.LockOf(t, dir)
	if slices.Contains(args, "gc") && len(there) == len(cached) {
		t.Fatal("there was nothing to remove")
	}
	want := append(listed(t, dir), cached...)
	for _, fault := range faults {
		most, n := fault.few, 1
		switch {
		case onlyKills && fault.said != "":
			most = 0
		case os.Getenv("TFDEPS_TEST_KILLS") != "":
			most = 40
		case peertest.All():
			most = fault.calls
		}
		for ; n <= most; n++ {
			prepare()
			end, struck := s.inject(t, fault.inject, n, dir, env, line)
			if !struck {
				break // the command makes fewer such calls
			}
			if said := harness.OneLine(end.Said()); end.Code != 0 && !strings.Contains(said, fault.said) || strings.Contains(said, "panic") {
				t.Errorf("%s at call %d: the message has no %q: %s", fault.inject, n, fault.said, end)
			}
			end = run()
			must.Equal(t, end.Code, 0, fault.inject, n, end)
			inCache := packagesBelow(t, s.cache)
			if len(inCache) == 0 && slices.Contains(args, "-recursive") { // init keeps packages only in the directory if the cache can't be written to
				inCache = cached
			}
			if got := append(listed(t, dir), inCache...); !slices.Equal(got, want) || harness.LockOf(t, dir) != lock {
				t.Errorf("after %s at call %d there is\n%s\nand should be\n%s", fault.inject, n, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			must.Len(t, must.Get(os.ReadDir(temporary))(t), 0, fault.inject, n)
		}
		if n == 1 && most > 0 {
			t.Errorf("%s: no call was found", fault.inject)
		}
	}
}

// callRemoteModules adds to a directory's configuration a call of a module on an https server, which calls another one.
func callRemoteModules(t *testing.T, s *site, dir string) {
	t.Helper()
	url := func(name, config string) string {
		files := map[string]string{"main.tf": config, "more/LICENSE": name, "more/variables.tf": "variable \"x\" {\n  default = \"" + name + "\"\n}\n"}
		return s.registry.BaseURL() + s.registry.AddArchive(name+".zip", providertest.Zip(files))
	}
	outer := url("outer", fmt.Sprintf("module \"inner\" {\n  source = %q\n}\n", url("inner", "")))
	must.Write(t, filepath.Join(dir, "remote.tf"), fmt.Appendf(nil, "module \"outer\" {\n  source = %q\n}\n", outer))
}

// packagesBelow lists the executables of providers in a cache, including staged ones.
func packagesBelow(t *testing.T, cache string) []string {
	return filesWith(t, cache, func(path string) bool { return strings.HasPrefix(filepath.Base(path), "terraform-provider-") })
}
