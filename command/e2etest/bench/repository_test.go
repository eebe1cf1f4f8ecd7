package bench

import (
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

// each runs a program in each tenth directory, and returns how long all would take.
func (r repository) each(b *testing.B, env []string, line ...string) time.Duration {
	b.Helper()
	start := time.Now()
	for i := 0; i < len(r.roots); i += 10 {
		harness.Run(b, r.roots[i], env, line...)
	}
	return time.Since(start) * 10
}

// BenchmarkRepository prepares 200 root modules, or as many as TFDEPS_BENCH_ROOTS says, in one run: unchanged, after rm -rf of every .terraform, and with nothing in any
// cache. single-ratio is the time to that of a run in each directory: the budget of the unchanged one is 0.25 on two cores. terraform-ratio, tofu-ratio and
// terragrunt-ratio are those to the time of others, which have a plugin cache; what they take is measured in each tenth directory. The budget of peak-MiB is 120.
func BenchmarkRepository(b *testing.B) {
	count, err := strconv.Atoi(os.Getenv("TFDEPS_BENCH_ROOTS"))
	if err != nil {
		count = 200
	}
	program := harness.Tfdeps(b)
	env := startBenchRegistry(b, program)
	others := map[string][]string{"single": {program, "init"}}
	if peer := harness.TerraformIfAny(); peer != "" {
		others["terraform"] = []string{peer, "init"}
	}
	if peer := os.Getenv("TFDEPS_PEER_TOFU"); peer != "" {
		others["tofu"] = []string{peer, "init"}
	}
	for _, kind := range []string{"unchanged", "cleaned", "cold"} {
		b.Run(kind, func(b *testing.B) {
			r := newRepository(b, count, env)
			home := newHome(b, env)
			var ours cost
			times := map[string]time.Duration{}
			prepare := func(home []string) []string {
				switch kind {
				case "cold":
					r.clean(b, true)
					return newHome(b, env)
				case "cleaned":
					r.clean(b, false)
				}
				return home
			}
			recursiveInit(b, program, r.dir, home)
			for b.Loop() {
				ours.add(recursiveInit(b, program, r.dir, prepare(home)))
				b.StopTimer()
				for name, line := range others {
					cached := append(slices.Clone(prepare(home)), "TF_PLUGIN_CACHE_DIR=")
					if name != "single" {
						cached = append(cached, "TF_PLUGIN_CACHE_DIR="+b.TempDir())
						r.clean(b, true)
						r.each(b, cached, append(line, "-no-color", "-input=false")...)
						cached = prepare(cached)
						if kind == "cold" {
							cached = append(cached, "TF_PLUGIN_CACHE_DIR="+b.TempDir())
						}
					}
					times[name] += r.each(b, cached, append(line, "-no-color", "-input=false")...)
				}
				if terragrunt, err := exec.LookPath("terragrunt"); err == nil && others["terraform"] != nil {
					start := time.Now()
					for _, root := range r.roots {
						must.Write(b, filepath.Join(root, "terragrunt.hcl"), "")
					}
					harness.Run(b, r.dir, prepare(append(slices.Clone(home), "TG_TF_PATH="+others["terraform"][0])), terragrunt, "run", "--all", "--non-interactive", "init")
					times["terragrunt"] += time.Since(start)
				}
				r.clean(b, true)
				recursiveInit(b, program, r.dir, home)
				b.StartTimer()
			}
			b.ReportMetric(float64(ours.wall.Nanoseconds())/float64(b.N), "ns/op")
			b.ReportMetric(float64(ours.cpu.Nanoseconds())/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(ours.memory.peak)/(1<<20), "peak-MiB")
			for name, time := range times {
				b.ReportMetric(float64(ours.wall)/float64(time), name+"-ratio")
			}
		})
	}
}

// recursiveInit runs one for all root modules.
func recursiveInit(b *testing.B, program, dir string, env []string) cost {
	b.Helper()
	cmd := exec.Command(program, "init", "-recursive", "-no-color")
	cmd.Dir, cmd.Env = dir, env
	start := time.Now()
	must.Succeed(b, cmd.Start())
	stop := watchMemory(cmd.Process.Pid)
	must.Succeed(b, cmd.Wait())
	return cost{wall: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), memory: stop()}
}
