package weight

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// Maximum numbers of system calls about files of an init with nothing to do, after main has begun: calls with a path, except those about directories
// above its own, which it checks for a policy and for symlinks, and whose number depends on the depth of the paths.
const (
	maxCallsOfInit     = 44
	maxCallsOfProvider = 2   // besides one for each of its files and directories
	maxCallsOfLink     = 60  // of a provider that comes from the cache; 45 by hard links
	maxOtherCalls      = 8   // of a provider, about what is open: 3 with nothing to do
	maxOtherOfLink     = 35  // 22 by hard links
	maxCallsOfRoot     = 235 // of an unchanged root module that requires three providers and calls a local module; 224
)

// TestProgram_CallsTheSystem looks at calls by strace.
func TestProgram_CallsTheSystem(t *testing.T) {
	t.Parallel()
	harness.RequireProgram(t, "strace")
	t.Run("init looks at few files", looksAtFewFiles)
	t.Run("archives are read once and at once", archivesAreReadOnceAndAtOnce)
}

// looksAtFewFiles counts these calls, and those about open files, for two and for twelve providers, whose packages are a directory with one
// file, and again after .terraform was deleted.
func looksAtFewFiles(t *testing.T) {
	t.Parallel()
	program := harness.Tfdeps(t)
	home := t.TempDir()
	_, env := newRegistry(t, 12, nil)
	env = append(env, "HOME="+home, "XDG_STATE_HOME=", "XDG_CACHE_HOME=")
	call := regexp.MustCompile(`^\d+ +[a-z0-9]+\((?:(?:AT_FDCWD, )?"([^"]*)")?`)
	calls := func(providers int, deleted bool) (count, others int) {
		dir := harness.WorkDir(t, requiring(providers))
		harness.Run(t, dir, env, program, "init")
		if deleted {
			must.Succeed(t, os.RemoveAll(filepath.Join(dir, ".terraform")))
		}
		trace := filepath.Join(t.TempDir(), "trace")
		harness.Run(t, dir, env, "strace", "-f", "-o", trace, "-e", "trace=%file,%network,read,pread64,write,close,fstat,getdents64,fcntl,flock", program, "init")
		_, afterMain, ok := strings.Cut(harness.ReadText(t, trace), "/proc/self/exe")
		must.Equal(t, ok, true)
		above := strings.Join([]string{dir, filepath.Join(home, ".cache/tfdeps/providers/v1"), filepath.Join(home, ".local/state/tfdeps")}, "\n") + "\n"
		for line := range strings.Lines(afterMain) {
			found := call.FindStringSubmatch(line)
			switch {
			case found == nil: // the end of a call, or a signal
			case found[1] == "":
				others++
			case !strings.Contains("\n"+above, "\n"+strings.TrimSuffix(strings.TrimSuffix(found[1], ".git"), "/")+"/"):
				count++
			}
		}
		return count, others
	}
	each := func(few, many int) int { return (many - few + 5) / 10 } // the number may vary by one call, which the rounding hides
	few, fewOther := calls(2, false)
	many, manyOther := calls(12, false)
	fewLinked, fewOtherLinked := calls(2, true)
	manyLinked, manyOtherLinked := calls(12, true)
	provider, link := each(few, many), each(fewLinked, manyLinked)
	fixed, other, otherOfLink := few-2*provider, each(fewOther, manyOther), each(fewOtherLinked, manyOtherLinked)
	t.Logf("%d calls about files, and for each provider %d and %d others; if it comes from the cache %d and %d others", fixed, provider, other, link, otherOfLink)
	if link > maxCallsOfLink || link <= provider || otherOfLink > maxOtherOfLink || otherOfLink <= other {
		t.Errorf("a provider of the cache takes %d calls about files and %d others, want at most %d and %d", link, otherOfLink, maxCallsOfLink, maxOtherOfLink)
	}
	if fixed > maxCallsOfInit || provider-2 > maxCallsOfProvider || other > maxOtherCalls || fixed < 20 || provider < 2 || other < 1 {
		t.Errorf("an init with nothing to do takes %d calls about files, and for each provider %d and %d others, want at most %d, %d and %d",
			fixed, provider, other, maxCallsOfInit, maxCallsOfProvider+2, maxOtherCalls)
	}
	t.Run("a further root module", func(t *testing.T) {
		_, env := newRegistry(t, 3, nil)
		config := requiring(3) + "terraform {\n  backend \"local\" {}\n}\nmodule \"m\" {\n  source = \"../../m\"\n}\n"
		calls := func(roots int) int {
			dir := t.TempDir()
			must.Write(t, filepath.Join(dir, "m", "main.tf"), "")
			for i := range roots {
				must.Write(t, filepath.Join(dir, "live", fmt.Sprint(i), "main.tf"), config)
			}
			harness.Run(t, dir, env, program, "init", "-recursive")
			trace := filepath.Join(t.TempDir(), "trace")
			harness.Run(t, dir, env, "strace", "-f", "-o", trace, "-e", "trace=%file,getdents64,fstat,read,close", program, "init", "-recursive")
			return len(regexp.MustCompile(`(?m)^\d+ +[a-z0-9]+\(`).FindAllString(harness.ReadText(t, trace), -1))
		}
		few, many := calls(2), calls(12)
		each := (many - few) / 10
		t.Logf("%d calls for each root module", each)
		if each > maxCallsOfRoot || each < 20 {
			t.Errorf("a further root module takes %d calls about files, want at most %d", each, maxCallsOfRoot)
		}
	})
}

// archivesAreReadOnceAndAtOnce traces the reads of packages on disk: each byte is read once, except an archive's
// central directory, and on two cores two packages are read at the same time. There are no receipts of earlier runs.
func archivesAreReadOnceAndAtOnce(t *testing.T) {
	t.Parallel()
	program := harness.Tfdeps(t)
	const size = 2 << 20
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	_, env := newRegistry(t, 4, func(name string, _ int) []byte {
		return harness.ZipOf(t, []harness.ZipEntry{{Name: name, Mode: 0o755, Content: string(content)}})
	})
	dir := harness.WorkDir(t, requiring(4))
	mirror, home := filepath.Join(t.TempDir(), "mirror"), t.TempDir()
	env = append(env, "HOME="+home, "GOMAXPROCS=2", "TFDEPS_CACHE_DIR="+filepath.Join(home, "cache"))
	forgetful := func() []string { return append(slices.Clone(env), "XDG_STATE_HOME="+t.TempDir()) }
	for _, line := range []string{"init", "vendor", "providers mirror " + mirror} {
		harness.Run(t, dir, env, append([]string{program}, strings.Fields(line)...)...)
	}
	platform := getproviders.CurrentPlatform().String()
	archives := must.Get(filepath.Glob(filepath.Join(mirror, "tf.example.com/acme/*/*_"+platform+".zip")))(t)
	must.Len(t, archives, 4)
	for name, line := range map[string][]string{
		"hash":           append([]string{"hash"}, archives...),
		"providers lock": {"providers", "lock", "-fs-mirror=" + mirror, "-platform=" + platform, "-hashes=read"},
		"vendor -check":  {"vendor", "-check"},
		"a mirror":       {"providers", "mirror", "-verify", mirror},
		"cache verify":   {"cache", "verify"},
	} {
		t.Run(name, func(t *testing.T) {
			traces := t.TempDir()
			// Each reading waits 2 ms, so that a busy machine has time for the others.
			harness.Run(t, dir, forgetful(), append([]string{"strace", "-ff", "-y", "-ttt", "-o", filepath.Join(traces, "of"), "-e", "trace=read,pread64", "-e", "inject=read,pread64:delay_exit=2000", program}, line...)...)
			all := readings(t, traces)
			overlap := 0
			for path, r := range all {
				if r.bytes < size || r.bytes > size+size/8 {
					t.Errorf("of %s, which has %d bytes, %d are read", path, size, r.bytes)
				}
				for _, other := range all {
					if r.from > other.from && r.from < other.to {
						overlap++
					}
				}
			}
			if len(all) != 4 || overlap == 0 {
				t.Errorf("%d packages are read, and %d while others are: %v", len(all), overlap, all)
			}
		})
	}
}

// reading is how much of a file was read, and when.
type reading struct {
	bytes    int
	from, to string // the first time and the last one
}

// readings returns the reads of packages in the output of strace, which has a file for each thread.
func readings(t *testing.T, traces string) map[string]reading {
	call := regexp.MustCompile(`(?m)^([0-9.]+) (?:read|pread64)\(\d+<([^>]*/terraform-provider-p\d(?:_[^>]*zip)?)>.* = (\d+) \(DELAYED\)$`)
	all := map[string]reading{}
	for _, path := range must.Get(filepath.Glob(filepath.Join(traces, "of.*")))(t) {
		for _, found := range call.FindAllStringSubmatch(harness.ReadText(t, path), -1) {
			n := must.Get(strconv.Atoi(found[3]))(t)
			if r, known := all[found[2]]; known {
				all[found[2]] = reading{r.bytes + n, min(r.from, found[1]), max(r.to, found[1])}
			} else {
				all[found[2]] = reading{n, found[1], found[1]}
			}
		}
	}
	return all
}
