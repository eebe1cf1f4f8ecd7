package bench

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// pair has functions that measure this program and the anchor once; theirs is nil without the anchor.
type pair struct{ ours, theirs func() float64 }

// limit is a row of the table of BenchmarkLimits.
type limit struct {
	name   string // as -bench=Limits/ takes it
	anchor string // the program to compare with
	bar    string
	start  func(b *testing.B) pair
}

// BenchmarkLimits prints how far this program is from the machine's limits. Figures are processor time, which doesn't change on a busy
// machine, or memory: the best of alternating runs. Rows whose anchor isn't installed have no ratio. The bars are for packages as large
// as real ones, TFDEPS_BENCH_SCALE=1; at the default size, network is mostly the 200 ms of each answer.
// Inflating alone is BenchmarkCopy_BesideOthers of package inflate.
func BenchmarkLimits(b *testing.B) {
	const row = "| %s | %s | %s | %s |\n"
	table := fmt.Sprintf(row+row, "what, `-bench=Limits/`", "tfdeps", "anchor", "bar", "---", "---", "---", "---")
	for _, l := range limits() {
		b.Run(l.name, func(b *testing.B) {
			p := l.start(b)
			var best, anchor float64
			for b.Loop() {
				best = least(best, p.ours())
				if p.theirs != nil {
					anchor = least(anchor, p.theirs())
				}
			}
			b.ReportMetric(best, "figure")
			compared := l.anchor + ": not measured"
			if anchor > 0 {
				b.ReportMetric(best/anchor, "ratio")
				compared = fmt.Sprintf("%s %.3g (%.2g)", l.anchor, anchor, best/anchor)
			}
			table += fmt.Sprintf(row, l.name, fmt.Sprintf("%.3g", best), compared, l.bar)
		})
	}
	fmt.Printf("\n%s\n", table)
}

// least returns the smaller one; 0 means no value.
func least(a, b float64) float64 { return min(cmp.Or(a, b), b) }

func limits() []limit {
	seconds := func(c cost) float64 { return c.cpu.Seconds() }
	wall := func(c cost) float64 { return c.wall.Seconds() }
	peak := func(c cost) float64 { return float64(c.peak) / (1 << 20) }
	start := func(b *testing.B) func() float64 { return figureOf(b, seconds, smallProgram(b, "os")) }
	rows := []limit{
		{"hash", "libdeflate-gunzip, s", "2.4", hashLimit},
		{"cold-seconds", "terraform, s", "0.38", coldLimit(seconds)},
		{"cold-memory", "terraform, MiB", "40 MiB", coldLimit(peak)},
		{"before-main", "", "2.5 ms", func(b *testing.B) pair { return pair{ours: func() float64 { return beforeMain(b) }} }},
		{"program-size", "", "27.6 MB", func(b *testing.B) pair {
			return pair{ours: func() float64 { return float64(must.Get(os.Stat(harness.Tfdeps(b)))(b).Size()) / 1e6 }}
		}},
		{"unchanged", "start of a small program, s", "2.5", func(b *testing.B) pair {
			return pair{unchangedLimit(b, "").ours, start(b)}
		}},
		{"imports", "start of a small program, s", "what unchanged can't be below", func(b *testing.B) pair {
			return pair{figureOf(b, seconds, smallProgram(b, "github.com/tfdeps/tfdeps/command")), start(b)}
		}},
		{"module", "terraform, s", "0.25", func(b *testing.B) pair { return unchangedLimit(b, namingModule()) }},
		{"failing", "terraform, wall s", "1", failingLimit},
		{"network", "sending the archives at 100 Mbit/s, wall s", "1.05", networkLimit},
		{"transfer", "the largest archive alone, over the slow network, wall s", "1.15", transferLimit},
		{"cache-key", "", "20 ms", func(b *testing.B) pair {
			return pair{ours: figureOf(b, wall, harness.Tfdeps(b), "-chdir="+lockedDir(b), "cache", "key", "-github")}
		}},
		{"check", "the same without -check, wall s", "1.1", optionLimit("-check")},
		{"frozen", "the same without -frozen, wall s", "1.1", optionLimit("-frozen")},
		{"copy", "cp -r, wall s", "2", copyLimit},
		{"restored", "hashing, wall s", "1.2", restoredLimit},
	}
	for _, w := range works {
		anchor := "terraform, wall s"
		if w.name == "disk" {
			anchor = "terraform, MB"
		}
		rows = append(rows, limit{w.name, anchor, w.bar, func(b *testing.B) pair {
			return eachOf(contenders(b, w.registry...), func(c contender) float64 { return w.measure(b, c) })
		}})
	}
	return rows
}

// eachOf measures this program and, if it is installed, terraform.
func eachOf(all []contender, measure func(contender) float64) (p pair) {
	p.ours = func() float64 { return measure(all[0]) }
	if len(all) > 1 && all[1].name == "terraform" {
		p.theirs = func() float64 { return measure(all[1]) }
	}
	return p
}

const pureGo = "-tags=netgo,osusergo"

// figureOf measures a program that needs only its arguments.
func figureOf(b *testing.B, figure func(cost) float64, line ...string) func() float64 {
	dir, env := b.TempDir(), harness.Env(b)
	return func() float64 {
		sum := 0.0
		for range 10 { // a run takes milliseconds, and the system's clock ticks every ten
			sum += figure(spend(b, dir, env, 0, line...))
		}
		return sum / 10
	}
}

// smallProgram builds a program that imports a package and does nothing.
func smallProgram(b *testing.B, imports string) (path string) {
	dir := b.TempDir()
	must.Write(b, filepath.Join(dir, "main.go"), fmt.Sprintf("package main\n\nimport _ %q\n\nfunc main() {}\n", imports))
	path = filepath.Join(dir, "small"+harness.ExeSuffix())
	out, err := harness.GoCommand("build", pureGo, "-ldflags=-s -w", "-o", path, filepath.Join(dir, "main.go")).CombinedOutput()
	must.Succeed(b, err, string(out))
	return path
}

// beforeMain returns the time of package initialization, in milliseconds.
func beforeMain(b *testing.B) (sum float64) {
	for line := range strings.Lines(harness.Exec(b, "", append(harness.Env(b), "GODEBUG=inittrace=1"), harness.Tfdeps(b), "version").Err) {
		var name string
		var at, took float64
		if _, err := fmt.Sscanf(line, "init %s @%f ms, %f ms clock", &name, &at, &took); err == nil {
			sum += took
		}
	}
	return sum
}

// hashLimit hashes an archive like aws', and inflates the same bytes.
func hashLimit(b *testing.B) (p pair) {
	dir := b.TempDir()
	path := largestArchive(b)
	env := harness.Env(b)
	p.ours = func() float64 { return spend(b, dir, env, 0, harness.Tfdeps(b), "hash", path).cpu.Seconds() }
	if gunzip, err := exec.LookPath("libdeflate-gunzip"); err == nil {
		compressed := filepath.Join(dir, "p9.gz")
		must.Write(b, compressed, gzipOf(b, path))
		p.theirs = func() float64 {
			cmd := exec.Command(gunzip, "-c", compressed) // to nowhere
			must.Succeed(b, cmd.Run())
			return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		}
	}
	return p
}

// gzipOf returns the first entry of an archive as a gzip file, with the same compressed bytes.
func gzipOf(b *testing.B, path string) []byte {
	archive := must.Get(zip.OpenReader(path))(b)
	defer archive.Close()
	file := archive.File[0]
	compressed := bytes.NewBufferString("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff")
	must.Get(io.Copy(compressed, must.Get(file.OpenRaw())(b)))(b)
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(compressed.Bytes(), file.CRC32), uint32(file.UncompressedSize64))
}

// largestArchive returns the path of a registry's largest archive.
func largestArchive(b *testing.B) string {
	dir := b.TempDir()
	startBenchRegistry(b, "-dir="+dir)
	return filepath.Join(dir, "p9_"+getproviders.CurrentPlatform().String()+".zip")
}

// coldLimit measures an init in an empty directory, without a lock file or any cache.
func coldLimit(figure func(cost) float64) func(b *testing.B) pair {
	return func(b *testing.B) pair {
		return eachOf(contenders(b), func(c contender) float64 { return figure(c.cold(b)) })
	}
}

// unchangedLimit measures an init after another one; module is the content of a local module.
func unchangedLimit(b *testing.B, module string) pair {
	config := benchConfig()
	if module != "" {
		config = "module \"m\" {\n  source = \"./m\"\n}\n"
	}
	dirs := map[string]string{}
	return eachOf(contenders(b), func(c contender) float64 {
		again := func() cost { return spend(b, dirs[c.name], c.env, 0, c.program, "init", "-no-color", "-input=false") }
		if dirs[c.name] == "" {
			dirs[c.name] = b.TempDir()
			must.Write(b, filepath.Join(dirs[c.name], "main.tf"), config)
			must.Write(b, filepath.Join(dirs[c.name], "m", "main.tf"), module)
			again()
		}
		var sum time.Duration
		for range 5 {
			sum += again().cpu
		}
		return sum.Seconds() / 5
	})
}

// namingModule returns a module similar to Azure/naming in size and content.
func namingModule() string {
	var config strings.Builder
	config.WriteString("locals {\n  az = {\n")
	const each = `    resource_%[1]d = {
      name        = substr(join("-", compact([local.prefix, "r%[1]d", local.suffix])), 0, %[2]d)
      name_unique = substr(join("-", compact([local.prefix, "r%[1]d", local.suffix_unique])), 0, %[2]d)
      dashes      = true
      slug        = "r%[1]d"
      min_length  = 1
      max_length  = %[2]d
      scope       = "resourceGroup"
      regex       = "^[a-zA-Z0-9][a-zA-Z0-9-._]{0,%[2]d}$"
    }
`
	for i := range 500 {
		fmt.Fprintf(&config, each, i, 24+i%60)
	}
	config.WriteString("  }\n  prefix = join(\"-\", var.prefix)\n  suffix = join(\"-\", var.suffix)\n  suffix_unique = join(\"-\", concat(var.suffix, [\"0\"]))\n}\n")
	config.WriteString("variable \"prefix\" {\n  type = list(string)\n  default = []\n}\nvariable \"suffix\" {\n  type = list(string)\n  default = []\n}\n")
	for i := range 500 {
		fmt.Fprintf(&config, "output \"resource_%[1]d\" {\n  value = local.az.resource_%[1]d\n}\n", i)
	}
	return config.String()
}

// failingLimit measures an init that fails because the registry doesn't have a provider.
func failingLimit(b *testing.B) pair {
	dir := harness.WorkDir(b, "terraform {\n  required_providers {\n    none = { source = \"acme/none\" }\n  }\n}\n")
	return eachOf(contenders(b), func(c contender) float64 {
		return spend(b, dir, c.env, 1, c.program, "init", "-no-color", "-input=false").wall.Seconds()
	})
}

// transferLimit compares a cold init with the download of the largest archive alone.
func transferLimit(b *testing.B) pair {
	size := must.Get(os.Stat(largestArchive(b)))(b).Size()
	all := contenders(b, slowNetwork...)
	return pair{func() float64 { return all[0].cold(b).wall.Seconds() }, func() float64 { return benchLatency.Seconds() + float64(size)/benchRate }}
}

// lockedDir makes a directory with a lock file of ten providers and nothing else, as for the first step of a CI job, which needs the cache key.
func lockedDir(b *testing.B) string {
	var lock strings.Builder
	for i := range 10 {
		fmt.Fprintf(&lock, "provider \"registry.terraform.io/acme/p%d\" {\n  version = \"1.%d.0\"\n  hashes = [\n", i, i)
		for platform := range 15 {
			fmt.Fprintf(&lock, "    \"zh:%064x\",\n", 100*i+platform)
		}
		lock.WriteString("  ]\n}\n\n")
	}
	dir := b.TempDir()
	must.Write(b, filepath.Join(dir, depsfile.FileName), lock.String())
	return dir
}

// optionLimit measures an init with an option after another init.
func optionLimit(option string) func(b *testing.B) pair {
	return func(b *testing.B) pair {
		c := contenders(b)[0]
		return pair{func() float64 { return c.init(b, c.dir, option).wall.Seconds() }, func() float64 { return c.init(b, c.dir).wall.Seconds() }}
	}
}

// cached returns this program, with a cache in a known directory.
func cached(b *testing.B) (c contender, cache string) {
	c, cache = contenders(b)[0], filepath.Join(b.TempDir(), "cache")
	c.env = append(c.env, "TFDEPS_CACHE_DIR="+cache)
	must.Succeed(b, os.RemoveAll(filepath.Join(c.dir, ".terraform")))
	c.init(b, c.dir)
	return c, cache
}

// copyLimit compares an init in a new directory with a lock file and -link=copy with a copy of the cache. Dirty pages are synced between the two.
func copyLimit(b *testing.B) pair {
	c, cache := cached(b)
	return pair{func() float64 {
		dir := c.fresh(b)
		defer os.RemoveAll(dir)
		return c.init(b, dir, "-link=copy").wall.Seconds()
	}, func() float64 {
		copied := filepath.Join(b.TempDir(), "copied")
		defer os.RemoveAll(copied)
		return spend(b, "", os.Environ(), 0, "cp", "-r", cache, copied).wall.Seconds()
	}}
}

// restoredLimit compares an init with a lock file and a copied cache, as CI restores it, with hashing the same packages on as many
// cores: after a copy all packages have to be hashed.
func restoredLimit(b *testing.B) pair {
	c, cache := cached(b)
	return pair{func() float64 {
		restored := filepath.Join(b.TempDir(), "restored")
		defer os.RemoveAll(restored)
		must.Succeed(b, os.CopyFS(restored, os.DirFS(cache)))
		c := contender{program: c.program, dir: c.dir, env: append(newHome(b, c.env), "TFDEPS_CACHE_DIR="+restored)}
		return c.init(b, c.fresh(b), "-offline").wall.Seconds()
	}, func() float64 {
		packages := must.Get(filepath.Glob(filepath.Join(cache, "providers/v1/*/*/*/*/*_*")))(b)
		must.Len(b, packages, 10)
		start := time.Now()
		_, errs := par.Map(b.Context(), runtime.GOMAXPROCS(0), packages, treehash.Dir)
		must.Succeed(b, errors.Join(errs...))
		return time.Since(start).Seconds()
	}}
}
