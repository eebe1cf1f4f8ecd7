package bench

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// repository is a clone with root modules, each of which requires ten providers and calls five local modules and two of git.
type repository struct {
	dir   string
	roots []string
}

func newRepository(b *testing.B, count int, env []string) repository {
	b.Helper()
	top := b.TempDir()
	r := repository{dir: filepath.Join(top, "repository")}
	var config strings.Builder
	fmt.Fprintf(&config, "terraform {\n  backend \"local\" {}\n}\n%s", benchConfig())
	for i := range 5 {
		must.Write(b, filepath.Join(r.dir, "modules", fmt.Sprint("m", i), "main.tf"), "variable \"x\" {\n  default = \"\"\n}\n\noutput \"x\" {\n  value = var.x\n}\n")
		fmt.Fprintf(&config, "module \"m%d\" {\n  source = \"../../modules/m%[1]d\"\n}\n", i)
	}
	for i := range 2 {
		shared := filepath.Join(top, fmt.Sprint("g", i))
		must.Write(b, filepath.Join(shared, "main.tf"), "output \"x\" {\n  value = 1\n}\n")
		for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "one"}, {"tag", "v1"}} {
			harness.Run(b, shared, env, append([]string{"git"}, args...)...)
		}
		fmt.Fprintf(&config, "module \"g%d\" {\n  source = \"git::file://%s?ref=v1\"\n}\n", i, filepath.ToSlash(shared))
	}
	for i := range count {
		root := filepath.Join(r.dir, "stacks", fmt.Sprintf("s%03d", i))
		must.Write(b, filepath.Join(root, "main.tf"), config.String())
		r.roots = append(r.roots, root)
	}
	return r
}

// clean removes what an init leaves; locks says whether lock files go, too.
func (r repository) clean(b *testing.B, locks bool) {
	b.Helper()
	for _, root := range r.roots {
		err := os.RemoveAll(filepath.Join(root, ".terraform"))
		if locks {
			err = errors.Join(err, os.RemoveAll(filepath.Join(root, ".terraform.lock.hcl")))
		}
		must.Succeed(b, err)
	}
}

// others returns the programs to compare with, which run in one directory at a time, and terragrunt, if it is installed, which
// starts one of them for each directory.
func others(program string) (lines map[string][]string, terragrunt string) {
	lines = map[string][]string{"single": {program, "init"}}
	for _, name := range []string{"terraform", "tofu"} {
		if peer, err := peertest.PeerProgram(name); err == nil {
			lines[name] = []string{peer, "init"}
		}
	}
	if terragrunt, _ = exec.LookPath(cmp.Or(os.Getenv("TFDEPS_PEER_TERRAGRUNT"), "terragrunt")); lines["terraform"] == nil {
		terragrunt = ""
	}
	return lines, terragrunt
}

// BenchmarkRepository prepares 200 root modules, or TFDEPS_BENCH_ROOTS, in one run: unchanged, after rm -rf of every .terraform, and with empty
// caches. NAME-s is the time of a program that is started in each directory, extrapolated from each tenth one; terragrunt, which TFDEPS_PEER_TERRAGRUNT names, is
// started once. All but tfdeps have a plugin cache. NAME-ratio is the time of the one run divided by that: for unchanged directories the budget of
// single-ratio is 0.25 on two cores. It is an error if the one run needs more than 120 MiB, or gets an archive twice.
func BenchmarkRepository(b *testing.B) {
	count, err := strconv.Atoi(os.Getenv("TFDEPS_BENCH_ROOTS"))
	if err != nil {
		count = 200
	}
	program := harness.Tfdeps(b)
	env, sent := startCountingRegistry(b)
	lines, terragrunt := others(program)
	for _, kind := range []string{"unchanged", "cleaned", "cold"} {
		b.Run(kind, func(b *testing.B) {
			r, home, cache := newRepository(b, count, env), newHome(b, env), "TF_PLUGIN_CACHE_DIR="+b.TempDir()
			// prepared prepares the directories for a kind of run, and returns its environment.
			prepared := func(more ...string) []string {
				if kind != "unchanged" {
					r.clean(b, kind == "cold")
				}
				if kind == "cold" {
					return append(newHome(b, env), "TF_PLUGIN_CACHE_DIR="+b.TempDir())
				}
				return append(slices.Clone(home), more...)
			}
			recursive := func(env []string) cost { return spend(b, r.dir, env, 0, program, "init", "-recursive", "-no-color") }
			recursive(home)
			var ours cost
			times := map[string]time.Duration{}
			for b.Loop() {
				before := sent()
				took := recursive(prepared())
				ours = cost{ours.wall + took.wall, ours.cpu + took.cpu, max(ours.peak, took.peak)}
				must.Equal(b, sent()-before, map[string]int{"cold": 10}[kind])
				b.StopTimer()
				times["single"] += r.each(b, prepared(), lines["single"])
				for name, line := range lines {
					if name != "single" {
						r.each(b, append(slices.Clone(home), cache), line)
						times[name] += r.each(b, prepared(cache), line)
					}
				}
				if terragrunt != "" {
					times["terragrunt"] += r.terragrunt(b, prepared(cache, "TG_TF_PATH="+lines["terraform"][0]), terragrunt)
				}
				r.clean(b, true)
				recursive(home)
				b.StartTimer()
			}
			b.ReportMetric(float64(ours.wall.Nanoseconds())/float64(b.N), "ns/op")
			b.ReportMetric(float64(ours.cpu.Nanoseconds())/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(ours.peak)/(1<<20), "peak-MiB")
			for name, time := range times {
				b.ReportMetric(time.Seconds()/float64(b.N), name+"-s")
				b.ReportMetric(float64(ours.wall)/float64(time), name+"-ratio")
			}
			if ours.peak > 120<<20 {
				b.Errorf("it had %d MiB", ours.peak>>20)
			}
		})
	}
}

// each runs a program in each tenth directory, and returns the extrapolated time for all.
func (r repository) each(b *testing.B, env []string, line []string) time.Duration {
	b.Helper()
	start, runs := time.Now(), 0
	for i := 0; i < len(r.roots); i += 10 {
		harness.Run(b, r.roots[i], env, append(slices.Clone(line), "-no-color", "-input=false")...)
		runs++
	}
	return time.Since(start) * time.Duration(len(r.roots)) / time.Duration(runs)
}

// terragrunt runs terragrunt for all directories, one after the other, because Terraform's plugin cache is for one process at a time. Terragrunt copies
// the whole repository, because directories call local modules.
func (r repository) terragrunt(b *testing.B, env []string, program string) time.Duration {
	b.Helper()
	for _, root := range r.roots {
		inside := filepath.ToSlash(must.Get(filepath.Rel(r.dir, root))(b))
		must.Write(b, filepath.Join(root, "terragrunt.hcl"), fmt.Sprintf("terraform {\n  source = %q\n}\n", r.dir+"//"+inside))
	}
	start := time.Now()
	harness.Run(b, r.dir, env, program, "run", "--all", "--non-interactive", "--parallelism=1", "init")
	return time.Since(start)
}
