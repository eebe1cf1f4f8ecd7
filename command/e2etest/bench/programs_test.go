// Package bench compares the program with the real terraform, as ratios within
// one run.
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
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// cost is the time and memory of a run of a program.
type cost struct {
	wall, cpu time.Duration
	peak      int64 // peak memory in bytes; 0 if unknown
}

// spend runs a program, which has to end with an exit code, and returns its cost.
func spend(b *testing.B, dir string, env []string, code int, line ...string) cost {
	b.Helper()
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir, cmd.Env = dir, env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	must.Succeed(b, cmd.Start())
	stop := watchMemory(cmd.Process.Pid)
	err := cmd.Wait()
	wall := time.Since(start)
	peak := stop()
	if cmd.ProcessState.ExitCode() != code {
		b.Fatalf("%q: %v\n%s", line, err, out.Bytes())
	}
	return cost{wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), peak}
}

// newHome returns an environment with a home without any cache. It sets the
// version of the real terraform, which would be run once for each home.
func newHome(b *testing.B, env []string) []string {
	b.Helper()
	return append(slices.Clone(env), "HOME="+b.TempDir(), "TFDEPS_TERRAFORM_VERSION=1.15.9", "TF_PLUGIN_CACHE_DIR=")
}

// contender is a program with its environment, which names its
// cache, and a directory in which it has been run.
type contender struct {
	name, program, dir string
	env                []string
}

// contenders starts a registry with options, and runs each installed program once, this one first. That fills its cache, and the page cache with
// programs and archives.
func contenders(b *testing.B, options ...string) (all []contender) {
	b.Helper()
	env := startBenchRegistry(b, options...)
	for _, name := range []string{"tfdeps", "terraform", "tofu"} {
		c := contender{name: name, program: harness.Tfdeps(b), dir: b.TempDir(), env: append(newHome(b, env), "TFDEPS_TOFU_VERSION=1.12.6")}
		if len(all) > 0 {
			var err error
			if c.program, err = peertest.PeerProgram(name); err != nil {
				continue
			}
			c.env = append(c.env, "TF_PLUGIN_CACHE_DIR="+b.TempDir())
		}
		c.init(b, c.dir)
		all = append(all, c)
	}
	return all
}

// init runs an init.
func (c contender) init(b *testing.B, dir string, args ...string) cost {
	b.Helper()
	must.Write(b, filepath.Join(dir, "main.tf"), benchConfig())
	return spend(b, dir, c.env, 0, append([]string{c.program, "init", "-no-color", "-input=false"}, args...)...)
}

// cold runs an init in a new directory, which it removes again, without any cache.
func (c contender) cold(b *testing.B) cost {
	b.Helper()
	dir := must.Get(os.MkdirTemp(b.TempDir(), "init"))(b)
	defer os.RemoveAll(dir)
	c.env = newHome(b, c.env)
	return c.init(b, dir)
}

// fresh makes a directory with the lock file.
func (c contender) fresh(b *testing.B) string {
	b.Helper()
	dir := must.Get(os.MkdirTemp(b.TempDir(), "init"))(b)
	must.Write(b, filepath.Join(dir, depsfile.FileName), harness.ReadText(b, filepath.Join(c.dir, depsfile.FileName)))
	return dir
}

// watchMemory polls a process until stop is called, which returns its peak
// memory in bytes, or 0 if unknown. It can't use the rusage of the ended
// process, because that includes the peak of the process that started it.
func watchMemory(pid int) (stop func() int64) {
	ended, result := make(chan struct{}), make(chan int64)
	go func() {
		var most int64
		ticks := time.NewTicker(5 * time.Millisecond)
		defer ticks.Stop()
		for {
			most = max(most, harness.PeakMemory(pid))
			select {
			case <-ended:
				result <- most
				return
			case <-ticks.C:
			}
		}
	}()
	return func() int64 { close(ended); return <-result }
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

// startBenchRegistry starts the registry in its own process, and returns the environment in which programs find it. Its packages have 20 to
// 700 MB unpacked, times TFDEPS_BENCH_SCALE (0.02 if it isn't set). For comparable figures, set it to 1 and have 5 GB free.
func startBenchRegistry(b *testing.B, options ...string) []string {
	b.Helper()
	env, _ := startCountingRegistry(b, options...)
	return env
}

// startCountingRegistry is startBenchRegistry with a function that returns how many archives the registry has sent.
func startCountingRegistry(b *testing.B, options ...string) (env []string, sent func() int) {
	b.Helper()
	scale := 0.02
	if given := os.Getenv("TFDEPS_BENCH_SCALE"); given != "" {
		scale = must.Get(strconv.ParseFloat(given, 64))(b, "TFDEPS_BENCH_SCALE")
	}
	cmd := exec.Command(harness.Build(b, "testdata/benchregistry"), append([]string{"-dir=" + b.TempDir(), "-sample=" + harness.Tfdeps(b), fmt.Sprint("-scale=", scale)}, options...)...)
	cmd.Stderr = os.Stderr
	stdin := must.Get(cmd.StdinPipe())(b)
	stdout := bufio.NewScanner(must.Get(cmd.StdoutPipe())(b))
	must.Succeed(b, cmd.Start())
	b.Cleanup(func() {
		_ = stdin.Close() // ends the registry
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
