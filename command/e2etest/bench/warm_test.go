package bench

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/treehash"
)

// BenchmarkCacheKey prints the key of a lock file with ten providers, as a CI job
// does before it has anything else. Its budget is 20 ms, the program's start
// included.
func BenchmarkCacheKey(b *testing.B) {
	program, dir := harness.Tfdeps(b), b.TempDir()
	env := harness.Env(b)
	var lock strings.Builder
	for i := range 10 {
		fmt.Fprintf(&lock, "provider \"registry.terraform.io/acme/p%d\" {\n  version = \"1.%d.0\"\n  hashes = [\n", i, i)
		for platform := range 15 {
			fmt.Fprintf(&lock, "    \"zh:%064x\",\n", 100*i+platform)
		}
		lock.WriteString("  ]\n}\n\n")
	}
	must.Write(b, filepath.Join(dir, depsfile.FileName), []byte(lock.String()))
	for b.Loop() {
		harness.Run(b, dir, env, program, "cache", "key", "-github")
	}
}

// Benchmarks of runs that find what they need on this machine. Each compares
// this program, with a cache of its own, with the real terraform and the plugin
// cache that TF_PLUGIN_CACHE_DIR names. Both caches are filled beforehand.
// ratio is that of the times; its budgets are for packages as large as real
// ones, TFDEPS_BENCH_SCALE=1: this program's time is hardly more than its start,
// however large the packages are, and terraform's is in proportion to them.

// contender is a program with the environment that it runs in, which holds its
// cache, and a directory in which it has been run.
type contender struct {
	program string
	env     []string
	dir     string
}

// contenders starts a registry and runs each program once. theirs has no
// program if there is no real terraform.
func contenders(b *testing.B) (ours, theirs contender) {
	b.Helper()
	program := harness.Tfdeps(b)
	env := startBenchRegistry(b, program)
	ours = contender{program: program, env: env, dir: b.TempDir()}
	ours.init(b, ours.dir)
	if peer := harness.TerraformIfAny(); peer != "" {
		theirs = contender{program: peer, env: append(slices.Clone(env), "TF_PLUGIN_CACHE_DIR="+b.TempDir()), dir: b.TempDir()}
		theirs.init(b, theirs.dir)
	}
	return ours, theirs
}

// init runs one init and returns how long it took.
func (c contender) init(b *testing.B, dir string, args ...string) time.Duration {
	b.Helper()
	must.Write(b, filepath.Join(dir, "main.tf"), benchConfig())
	start := time.Now()
	harness.Run(b, dir, c.env, append([]string{c.program, "init", "-no-color", "-input=false"}, args...)...)
	return time.Since(start)
}

// fresh makes a directory with the lock file, if it is wanted.
func (c contender) fresh(b *testing.B, locked bool) string {
	b.Helper()
	dir := must.Get(os.MkdirTemp(b.TempDir(), "init"))(b)
	if !locked {
		return dir
	}
	lock, err := os.ReadFile(filepath.Join(c.dir, depsfile.FileName))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, depsfile.FileName), lock, 0o600)
	}
	must.Succeed(b, err)
	return dir
}

// compare measures both contenders in turn, and reports.
func compare(b *testing.B, ours, theirs contender, measure func(contender) time.Duration) {
	b.Helper()
	var our, their time.Duration
	for b.Loop() {
		our += measure(ours)
		if theirs.program != "" {
			their += measure(theirs)
		}
	}
	b.ReportMetric(float64(our.Nanoseconds())/float64(b.N), "ns/op")
	if theirs.program != "" {
		b.ReportMetric(float64(their.Nanoseconds())/float64(b.N), "terraform-ns/op")
		b.ReportMetric(float64(our)/float64(their), "ratio")
	}
}

// BenchmarkWarmInit is an init in a new directory with a lock file. The budget
// of its ratio is 0.03.
func BenchmarkWarmInit(b *testing.B) {
	ours, theirs := contenders(b)
	compare(b, ours, theirs, func(c contender) time.Duration { return c.init(b, c.fresh(b, true)) })
}

// BenchmarkDeletedInit is "rm -rf .terraform" and an init, of which the init is
// measured. The budget of its ratio is 0.03; fresh-ratio is that to an init in a new directory
// with the lock file, measured in turn, whose budget is 1.5.
func BenchmarkDeletedInit(b *testing.B) {
	ours, theirs := contenders(b)
	var deleted, fresh time.Duration
	compare(b, ours, theirs, func(c contender) time.Duration {
		if c.program == ours.program {
			fresh += c.init(b, c.fresh(b, true))
		}
		must.Succeed(b, os.RemoveAll(filepath.Join(c.dir, ".terraform")))
		took := c.init(b, c.dir)
		if c.program == ours.program {
			deleted += took
		}
		return took
	})
	b.ReportMetric(float64(deleted)/float64(fresh), "fresh-ratio")
}

// BenchmarkManyInits is an init in each of 500 new directories with a lock file, one
// after the other, as in a tree of Terragrunt. each-ns/op is the time for one of them,
// whose budget is 12 ms on a quiet machine, and start-ratio is that to the program's
// start. Terraform has no part in it.
func BenchmarkManyInits(b *testing.B) {
	program := harness.Tfdeps(b)
	ours := contender{program: program, env: startBenchRegistry(b, program), dir: b.TempDir()}
	ours.init(b, ours.dir)
	const directories = 500
	var took, start time.Duration
	for b.Loop() {
		for range directories {
			start += ours.start(b)
			took += ours.init(b, ours.fresh(b, true))
		}
	}
	b.ReportMetric(float64(took.Nanoseconds())/float64(b.N)/directories, "each-ns/op")
	b.ReportMetric(float64(took)/float64(start), "start-ratio")
}

// start is how long the program takes to start, and tell its version.
func (c contender) start(b *testing.B) time.Duration {
	b.Helper()
	began := time.Now()
	cmd := exec.Command(c.program, "version")
	cmd.Env = c.env
	must.Succeed(b, cmd.Run())
	return time.Since(began)
}

// BenchmarkCheckInit is "init -check" and "init -frozen" where an init has been
// before. unchanged-ratio is that to an init without these options: the budget is 1.1.
func BenchmarkCheckInit(b *testing.B) {
	for _, option := range []string{"-check", "-frozen"} {
		b.Run(option[1:], func(b *testing.B) {
			program := harness.Tfdeps(b)
			ours := contender{program: program, env: startBenchRegistry(b, program), dir: b.TempDir()}
			ours.init(b, ours.dir)
			var took, unchanged time.Duration
			for b.Loop() {
				unchanged += ours.init(b, ours.dir)
				took += ours.init(b, ours.dir, option)
			}
			b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "ns/op")
			b.ReportMetric(float64(took)/float64(unchanged), "unchanged-ratio")
		})
	}
}

// BenchmarkUnchangedInit is an init where one has been before. The budget of
// its ratio is 0.006. start-ns/op is what this program takes to start, and tell
// its version.
func BenchmarkUnchangedInit(b *testing.B) {
	ours, theirs := contenders(b)
	var start time.Duration
	compare(b, ours, theirs, func(c contender) time.Duration {
		if c.program == ours.program {
			start += c.start(b)
		}
		return c.init(b, c.dir)
	})
	b.ReportMetric(float64(start.Nanoseconds())/float64(b.N), "start-ns/op")
}

// BenchmarkUpgradeInits is "init -upgrade" in fifty new directories without lock
// files, one after the other, as services do it that run Terraform for others.
// The budget of its ratio is 0.03.
func BenchmarkUpgradeInits(b *testing.B) {
	ours, theirs := contenders(b)
	compare(b, ours, theirs, func(c contender) (sum time.Duration) {
		for range 50 {
			sum += c.init(b, c.fresh(b, false), "-upgrade")
		}
		return sum
	})
}

// BenchmarkCopyInit is an init in a new directory with a lock file and -link=copy. ratio is
// that to "cp -r" of the cache, in turn: the budget is 2.
func BenchmarkCopyInit(b *testing.B) {
	cp, err := exec.LookPath("cp")
	if err != nil {
		b.Skip(err)
	}
	program := harness.Tfdeps(b)
	cache := filepath.Join(b.TempDir(), "cache")
	ours := contender{program: program, env: append(startBenchRegistry(b, program), "TFDEPS_CACHE_DIR="+cache), dir: b.TempDir()}
	ours.init(b, ours.dir)
	var took, copying time.Duration
	runs := 0
	for b.Loop() {
		fresh, copied := ours.fresh(b, true), filepath.Join(b.TempDir(), "copied")
		ways := []func(){
			func() { took += ours.init(b, fresh, "-link=copy") },
			func() { copying += run(b, cp, "-r", cache, copied) },
		}
		if runs++; runs%2 == 0 {
			slices.Reverse(ways)
		}
		for _, way := range ways { // each with no other's pages waiting for the disk
			way()
			for _, dir := range []string{filepath.Join(fresh, ".terraform"), copied} {
				must.Succeed(b, os.RemoveAll(dir))
			}
		}
	}
	b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "ns/op")
	b.ReportMetric(float64(copying.Nanoseconds())/float64(b.N), "cp-ns/op")
	b.ReportMetric(float64(took)/float64(copying), "ratio")
}

// run runs a program and returns how long it took.
func run(b *testing.B, program string, args ...string) time.Duration {
	b.Helper()
	start := time.Now()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", program, err, out)
	}
	return time.Since(start)
}

// BenchmarkRestoredInit is an init with a lock file whose cache was copied, as
// CI restores it, so that all has to be hashed. ratio is that to hashing the
// same packages, on as many cores, and nothing else: the budget is 1.2.
func BenchmarkRestoredInit(b *testing.B) {
	program := harness.Tfdeps(b)
	env := startBenchRegistry(b, program)
	filled := filepath.Join(b.TempDir(), "filled")
	ours := contender{program: program, env: append(slices.Clone(env), "TFDEPS_CACHE_DIR="+filled), dir: b.TempDir()}
	ours.init(b, ours.dir)
	var took, hashing time.Duration
	for b.Loop() {
		restored := filepath.Join(b.TempDir(), "restored")
		must.Succeed(b, os.CopyFS(restored, os.DirFS(filled)))
		hashing += hashAll(b, restored)
		c := contender{program: program, env: append(newHome(b, env), "TFDEPS_CACHE_DIR="+restored)}
		took += c.init(b, ours.fresh(b, true), "-offline")
		must.Succeed(b, os.RemoveAll(restored))
	}
	b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "ns/op")
	b.ReportMetric(float64(hashing.Nanoseconds())/float64(b.N), "hashing-ns/op")
	b.ReportMetric(float64(took)/float64(hashing), "ratio")
}

// hashAll hashes all packages in a cache, on all cores.
func hashAll(b *testing.B, cache string) time.Duration {
	b.Helper()
	packages, err := fs.Glob(os.DirFS(cache), "providers/v1/*/*/*/*/*_*")
	if err != nil || len(packages) != 10 {
		b.Fatalf("there is %q, %v", packages, err)
	}
	start := time.Now()
	_, errs := par.Map(b.Context(), runtime.GOMAXPROCS(0), packages, func(ctx context.Context, name string) (getproviders.Hash, error) {
		return treehash.Dir(ctx, filepath.Join(cache, filepath.FromSlash(name)))
	})
	took := time.Since(start)
	for _, err := range errs {
		must.Succeed(b, err)
	}
	return took
}
