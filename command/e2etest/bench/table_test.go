package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// BenchmarkTable prints the table of README.md: how long this program, terraform and
// tofu take for the same work, in turn in one run, as far as they are installed. Each
// cell is the best of the runs, because other work on the machine only adds to it, and in
// parentheses the part that this program takes of the other's.
//
// In the rows about a new, a cleared and an unchanged directory the others have a plugin
// cache directory, which is filled, as this program's cache is. In the others they have
// none, as by default.
func BenchmarkTable(b *testing.B) {
	programs := []contender{{program: harness.Tfdeps(b)}}
	names := []string{"tfdeps"}
	for _, name := range []string{"terraform", "tofu"} {
		if program, err := peertest.PeerProgram(name); err == nil {
			programs, names = append(programs, contender{program: program}), append(names, name)
		}
	}
	plain := startBenchRegistry(b, programs[0].program)
	slow := startBenchRegistry(b, programs[0].program, fmt.Sprint("-latency=", benchLatency), fmt.Sprint("-rate=", benchRate))
	lock := startBenchRegistry(b, programs[0].program, "-platforms="+strings.Join(harness.LockPlatforms, ","))
	for i := range programs {
		programs[i].env = append(newHome(b, plain), "TFDEPS_TOFU_VERSION=1.12.6")
		if i > 0 {
			programs[i].env = append(programs[i].env, "TF_PLUGIN_CACHE_DIR="+b.TempDir())
		}
		programs[i].dir = b.TempDir()
		programs[i].init(b, programs[i].dir) // fills the cache, and reads programs and archives from disk
	}
	rows := []struct {
		name    string
		measure func(contender) float64
	}{
		{"first `init`, nothing cached", func(c contender) float64 { return coldInit(b, c.program, newHome(b, plain)).wall.Seconds() }},
		{"the same, over a network with 40 MB/s for each connection and 30 ms to the server", func(c contender) float64 { return coldInit(b, c.program, newHome(b, slow)).wall.Seconds() }},
		{"new directory with a lock file", func(c contender) float64 { return c.init(b, c.fresh(b, true)).Seconds() }},
		{"after `rm -rf .terraform`", func(c contender) float64 {
			removeAll(b, filepath.Join(c.dir, ".terraform"))
			return c.init(b, c.dir).Seconds()
		}},
		{"nothing changed", func(c contender) float64 { return c.init(b, c.dir).Seconds() }},
		{"`providers lock`, 5 providers, 5 platforms", func(c contender) float64 { return lockBench(b, c.program, newHome(b, lock)).wall.Seconds() }},
		{"disk for 5 directories", func(c contender) float64 { return diskOf(b, c.program, newHome(b, plain)) }},
	}
	best := make([][]float64, len(rows))
	for b.Loop() {
		for i, row := range rows {
			for j, c := range programs {
				figure := row.measure(c)
				if len(best[i]) == j {
					best[i] = append(best[i], figure)
				}
				best[i][j] = min(best[i][j], figure)
			}
		}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "| | %s |\n|---|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
	for i, row := range rows {
		fmt.Fprintf(&table, "| %s |", row.name)
		for j, figure := range best[i] {
			table.WriteString(cell(figure, strings.HasPrefix(row.name, "disk")))
			if j > 0 {
				fmt.Fprintf(&table, " (%.2g)", best[i][0]/figure)
			}
			table.WriteString(" |")
		}
		table.WriteString("\n")
	}
	fmt.Printf("\n%s\n", table.String())
}

// cell is a figure in seconds, or in megabytes.
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

// diskOf initializes five directories, and returns what they and the home take of the
// disk, in megabytes. A file with several names counts once.
func diskOf(b *testing.B, program string, env []string) float64 {
	b.Helper()
	du, err := exec.LookPath("du")
	if err != nil {
		b.Skip(err)
	}
	top := must.Get(os.MkdirTemp(b.TempDir(), "disk"))(b)
	defer removeAll(b, top)
	home := filepath.Join(top, "home")
	must.Succeed(b, os.Mkdir(home, 0o755))
	c := contender{program: program, env: append(slices.Clone(env), "HOME="+home)}
	for i := range 5 {
		dir := filepath.Join(top, fmt.Sprint(i))
		must.Succeed(b, os.Mkdir(dir, 0o755))
		c.init(b, dir)
	}
	out := must.Get(exec.Command(du, "-sk", top).Output())(b)
	kibibytes := must.Get(strconv.ParseFloat(strings.Fields(string(out))[0], 64))(b)
	return kibibytes * 1024 / 1e6
}

func removeAll(b *testing.B, path string) {
	b.Helper()
	must.Succeed(b, os.RemoveAll(path))
}
