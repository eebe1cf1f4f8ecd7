package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// The network of the slow registry.
const (
	benchLatency = 30 * time.Millisecond
	benchRate    = 40_000_000 // bytes in a second
)

var (
	slowNetwork = []string{fmt.Sprint("-latency=", benchLatency), fmt.Sprint("-rate=", benchRate)}
	platforms   = []string{"-platforms=" + strings.Join(harness.LockPlatforms, ",")}
)

// work is a task by which this program is compared with terraform and tofu.
type work struct {
	name     string // as -bench=Limits/ takes it
	row      string // of the table of README; "" if it isn't there
	bar      string // maximum ratio to terraform's time, at real sizes; its own time hardly grows with them
	registry []string
	measure  func(*testing.B, contender) float64 // in seconds, but for the disk
}

// works are the tasks, those of the table first. Except for the cold ones, the others have a filled plugin cache, and this program a filled cache.
var works = []work{
	{"first", "first `init`, nothing cached", "0.45", nil, func(b *testing.B, c contender) float64 { return c.cold(b).wall.Seconds() }},
	{"slow", "the same, over a network with 40 MB/s for each connection and 30 ms to the server", "0.34", slowNetwork, func(b *testing.B, c contender) float64 { return c.cold(b).wall.Seconds() }},
	{"fresh", "new directory with a lock file", "0.03", nil, func(b *testing.B, c contender) float64 { return c.init(b, c.fresh(b)).wall.Seconds() }},
	{"deleted", "after `rm -rf .terraform`", "0.03", nil, func(b *testing.B, c contender) float64 { return deletedInit(b, c) }},
	{"same", "nothing changed", "0.006", nil, func(b *testing.B, c contender) float64 { return c.init(b, c.dir).wall.Seconds() }},
	{"lock", "`providers lock`, 5 providers, 5 platforms", "0.35", platforms, func(b *testing.B, c contender) float64 { return lockInit(b, c, newHome(b, c.env)) }},
	{"disk", "disk for 5 directories", "", nil, diskOf},
	{"lock-again", "", "0.02", platforms, func(b *testing.B, c contender) float64 { return lockInit(b, c, c.env) }},
	{"upgrade", "", "0.03", nil, func(b *testing.B, c contender) float64 { return c.init(b, b.TempDir(), "-upgrade").wall.Seconds() }},
}

// deletedInit measures the init after "rm -rf .terraform".
func deletedInit(b *testing.B, c contender) float64 {
	must.Succeed(b, os.RemoveAll(filepath.Join(c.dir, ".terraform")))
	return c.init(b, c.dir).wall.Seconds()
}

// lockInit measures a providers lock in a new directory.
func lockInit(b *testing.B, c contender, env []string) float64 {
	dir := b.TempDir()
	must.Write(b, filepath.Join(dir, "main.tf"), harness.LockConfig("p0", "", "p1", "", "p2", "", "p3", "", "p4", ""))
	return spend(b, dir, env, 0, append([]string{c.program, "providers", "lock", "-no-color"}, strings.Fields(harness.FivePlatforms)...)...).wall.Seconds()
}

// diskOf initializes five directories, and returns the disk space of these and the home,
// in megabytes. Hard links count once.
func diskOf(b *testing.B, c contender) float64 {
	b.Helper()
	du, err := exec.LookPath("du")
	if err != nil {
		b.Skip(err)
	}
	top := must.Get(os.MkdirTemp(b.TempDir(), "disk"))(b)
	defer os.RemoveAll(top)
	c.env = append(newHome(b, c.env), "HOME="+filepath.Join(top, "home"))
	for i := range 5 {
		c.init(b, filepath.Join(top, fmt.Sprint(i)))
	}
	out := must.Get(exec.Command(du, "-sk", top).Output())(b)
	kibibytes := must.Get(strconv.ParseFloat(strings.Fields(string(out))[0], 64))(b)
	return kibibytes * 1024 / 1e6
}

// BenchmarkTable prints the table of README.md: the times of this program, terraform and
// tofu, if these are installed, for the same work in alternating runs. Each
// cell is the best run, because other work on the machine only adds to it, with
// this program's fraction of the other's time in parentheses.
func BenchmarkTable(b *testing.B) {
	programs := map[string][]contender{}
	best := map[string]float64{}
	for b.Loop() {
		for _, w := range works {
			key := fmt.Sprint(w.registry)
			if programs[key] == nil {
				programs[key] = contenders(b, w.registry...)
			}
			for _, c := range programs[key] {
				if w.row != "" {
					best[w.row+c.name] = least(best[w.row+c.name], w.measure(b, c))
				}
			}
		}
	}
	head, line := "| |", "|---|"
	for _, c := range programs["[]"] {
		head, line = head+" "+c.name+" |", line+"---|"
	}
	table := head + "\n" + line + "\n"
	for _, w := range works {
		if w.row == "" {
			break
		}
		table += "| " + w.row + " |"
		for i, c := range programs["[]"] {
			if table += cell(best[w.row+c.name], w.name == "disk"); i > 0 {
				table += fmt.Sprintf(" (%.2g)", best[w.row+"tfdeps"]/best[w.row+c.name])
			}
			table += " |"
		}
		table += "\n"
	}
	fmt.Printf("\n%s\n", table)
}

// cell formats a figure in seconds, or in megabytes.
func cell(value float64, disk bool) string {
	switch {
	case disk:
		return fmt.Sprintf(" %.0f MB", value)
	case value < 1:
		return fmt.Sprintf(" %.0f ms", value*1000)
	default:
		return fmt.Sprintf(" %.1f s", value)
	}
}
