// Package bench measures the program next to the real terraform, in one run, as
// ratios.
package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// What BenchmarkSlowNetworkInit has for a network.
const (
	benchLatency = 30 * time.Millisecond
	benchRate    = 40_000_000 // bytes in a second
)

// BenchmarkSlowNetworkInit is BenchmarkColdInit with a registry that takes 30 ms
// for each answer and sends 40 MB of each archive in a second. The budget of
// ratio is 0.34. transfer-ratio compares with the time that the largest archive
// takes alone, the budget of which is 1.15.
func BenchmarkSlowNetworkInit(b *testing.B) {
	program, peer := harness.Tfdeps(b), harness.TerraformIfAny()
	archives := b.TempDir()
	env := startBenchRegistry(b, program, fmt.Sprint("-latency=", benchLatency), fmt.Sprint("-rate=", benchRate), "-dir="+archives)
	largest := must.Get(os.Stat(filepath.Join(archives, "p9_"+getproviders.CurrentPlatform().String()+".zip")))(b)
	transfer := benchLatency + time.Duration(largest.Size())*time.Second/benchRate
	coldInit(b, program, newHome(b, env)) // reads programs and archives from disk
	var ours, theirs cost
	for b.Loop() {
		ours.add(coldInit(b, program, newHome(b, env)))
		if peer != "" {
			theirs.add(coldInit(b, peer, env))
		}
	}
	b.ReportMetric(float64(ours.wall.Nanoseconds())/float64(b.N), "ns/op")
	b.ReportMetric(float64(ours.wall)/float64(b.N)/float64(transfer), "transfer-ratio")
	if peer != "" {
		b.ReportMetric(float64(theirs.wall.Nanoseconds())/float64(b.N), "terraform-ns/op")
		b.ReportMetric(float64(ours.wall)/float64(theirs.wall), "ratio")
	}
}

// BenchmarkColdInit installs ten packages into an empty directory, without a
// lock file or any cache, with this program and, if it is installed, with the
// real terraform. The registry is a process of its own on the same machine.
//
// ns/op is this program's time. ratio is that to terraform's: the budget is
// 0.45 on two cores. peak-MiB is this program's memory (budget: 64), of which
// program-MiB at most are parts of its file that the system has in memory anyway,
// and own-MiB at most are the rest. cpu-ratio is its processor time to terraform's.
// idle-ns/op is the time of cores on which nothing ran, the registry included, while this
// program did: on a machine that does nothing else, what better order could save at most.
//
// The packages have 20 to 700 MB unpacked, times TFDEPS_BENCH_SCALE (0.02 if
// it isn't set). For figures to compare, set it to 1 and have 5 GB free.
func BenchmarkColdInit(b *testing.B) {
	program, peer := harness.Tfdeps(b), harness.TerraformIfAny()
	env := startBenchRegistry(b, program)
	var ours, theirs cost
	// The first run isn't counted: it reads programs and archives from disk.
	coldInit(b, program, newHome(b, env))
	if peer != "" {
		coldInit(b, peer, env)
	}
	for b.Loop() {
		ours.add(coldInit(b, program, newHome(b, env)))
		b.StopTimer()
		if peer != "" {
			theirs.add(coldInit(b, peer, env))
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(ours.wall.Nanoseconds())/float64(b.N), "ns/op")
	b.ReportMetric(float64(ours.cpu.Nanoseconds())/float64(b.N), "cpu-ns/op")
	if ours.idle > 0 {
		b.ReportMetric(float64(ours.idle.Nanoseconds())/float64(b.N), "idle-ns/op")
	}
	if ours.memory != (memory{}) {
		b.ReportMetric(float64(ours.memory.peak)/(1<<20), "peak-MiB")
		b.ReportMetric(float64(ours.memory.own)/(1<<20), "own-MiB")
		b.ReportMetric(float64(ours.memory.program)/(1<<20), "program-MiB")
	}
	if peer != "" {
		b.ReportMetric(float64(theirs.wall.Nanoseconds())/float64(b.N), "terraform-ns/op")
		b.ReportMetric(float64(ours.wall)/float64(theirs.wall), "ratio")
		b.ReportMetric(float64(ours.cpu)/float64(theirs.cpu), "cpu-ratio")
	}
}

// cost is what runs of a program took.
type cost struct {
	wall, cpu time.Duration // in all
	idle      time.Duration // of all cores of the machine meanwhile; 0: not known
	memory    memory        // of the run that had most
}

func (c *cost) add(o cost) {
	c.wall += o.wall
	c.cpu += o.cpu
	c.idle += o.idle
	c.memory = c.memory.max(o.memory)
}

// memory is the most that a process had of each sort, in bytes; 0: not known.
type memory struct{ peak, own, program int64 }

func (m memory) max(o memory) memory {
	return memory{max(m.peak, o.peak), max(m.own, o.own), max(m.program, o.program)}
}

// newHome is an environment with a home in which there is no cache yet. The
// version of the real terraform would be asked for once for each home.
func newHome(b *testing.B, env []string) []string {
	b.Helper()
	return append(slices.Clone(env), "HOME="+b.TempDir(), "TFDEPS_TERRAFORM_VERSION=1.15.9")
}

// coldInit runs one init in a new directory, which it removes again.
func coldInit(b *testing.B, program string, env []string) cost {
	b.Helper()
	dir, err := os.MkdirTemp(b.TempDir(), "init")
	must.Succeed(b, err)
	defer os.RemoveAll(dir)
	must.Write(b, filepath.Join(dir, "main.tf"), benchConfig())
	return spend(b, dir, env, 0, program, "init", "-no-color", "-input=false")
}

// spend runs a program, which has to end with a code, and returns what it took.
func spend(b *testing.B, dir string, env []string, code int, line ...string) cost {
	b.Helper()
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir, cmd.Env = dir, env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start, idle := time.Now(), idleTime()
	must.Succeed(b, cmd.Start())
	stop := watchMemory(cmd.Process.Pid)
	err := cmd.Wait()
	wall := time.Since(start)
	idle = idleTime() - idle
	most := stop()
	if cmd.ProcessState.ExitCode() != code {
		b.Fatalf("%q: %v\n%s", line, err, out.Bytes())
	}
	return cost{wall: wall, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), idle: idle, memory: most}
}

// idleTime is how long the machine's cores have had nothing to run since it started, or have
// waited for a disk; 0 where the system doesn't tell.
func idleTime() time.Duration {
	const tick = time.Second / 100 // the unit of /proc/stat, on all machines that Go runs on
	content, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	var user, nice, system, idle, waiting int64
	if _, err := fmt.Sscanf(string(content), "cpu %d %d %d %d %d", &user, &nice, &system, &idle, &waiting); err != nil {
		return 0
	}
	return time.Duration(idle+waiting) * tick
}

func benchConfig() string {
	var config strings.Builder
	config.WriteString("terraform {\n  required_providers {\n")
	for i := range 10 {
		fmt.Fprintf(&config, "    p%d = { source = \"acme/p%d\" }\n", i, i)
	}
	config.WriteString("  }\n}\n")
	return config.String()
}

// startBenchRegistry starts the registry, and returns the environment in which
// both programs find it. sample is what the packages are made of.
func startBenchRegistry(b *testing.B, sample string, more ...string) []string {
	b.Helper()
	env, _ := startCountingRegistry(b, sample, more...)
	return env
}

// startCountingRegistry is startBenchRegistry for a registry that tells how many archives it has sent.
func startCountingRegistry(b *testing.B, sample string, more ...string) (env []string, sent func() int) {
	b.Helper()
	server := harness.Build(b, "testdata/benchregistry")
	args := append([]string{"-dir=" + b.TempDir(), "-sample=" + sample, "-scale=" + strconv.FormatFloat(benchScale(b), 'g', -1, 64)}, more...)
	cmd := exec.Command(server, args...)
	cmd.Stderr = os.Stderr
	stdin := must.Get(cmd.StdinPipe())(b)
	stdout := bufio.NewScanner(must.Get(cmd.StdoutPipe())(b))
	must.Succeed(b, cmd.Start())
	b.Cleanup(func() {
		_ = stdin.Close() // it ends by that
		_ = cmd.Wait()
	})
	for stdout.Scan() && stdout.Text() != "" {
		env = append(env, stdout.Text())
	}
	if len(env) == 0 {
		b.Fatal("the registry didn't start")
	}
	return harness.Env(b, env...), func() int {
		must.Get(io.WriteString(stdin, "\n"))(b)
		stdout.Scan()
		return must.Get(strconv.Atoi(stdout.Text()))(b)
	}
}

func benchScale(b *testing.B) float64 {
	b.Helper()
	given := os.Getenv("TFDEPS_BENCH_SCALE")
	if given == "" {
		return 0.02
	}
	scale, err := strconv.ParseFloat(given, 64)
	if err != nil || scale <= 0 {
		b.Fatalf("TFDEPS_BENCH_SCALE=%q is no positive number", given)
	}
	return scale
}
