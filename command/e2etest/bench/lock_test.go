package bench

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// BenchmarkLock makes a lock file for five providers and five platforms, with
// this program and, if it is installed, with the real terraform, which both
// have asked for nothing before.
//
// ns/op is this program's time. ratio is that to terraform's: the budget is 0.35
// on two cores. again-ratio is that of a second run, in another directory: 0.02
// at the size of real packages. Those here are smaller, see BenchmarkColdInit.
func BenchmarkLock(b *testing.B) {
	program, peer := harness.Tfdeps(b), harness.TerraformIfAny()
	env := startBenchRegistry(b, program, "-platforms="+strings.Join(harness.LockPlatforms, ","))
	var ours, again, theirs cost
	lockBench(b, program, append(env, "HOME="+b.TempDir())) // reads programs and archives from disk
	for b.Loop() {
		home := append(env, "HOME="+b.TempDir())
		if peer != "" { // the version that it has is asked for once for each home, and isn't what is measured
			harness.Run(b, "", home, program, "version")
		}
		ours.add(lockBench(b, program, home))
		again.add(lockBench(b, program, home))
		if peer != "" {
			theirs.add(lockBench(b, peer, home))
		}
	}
	b.ReportMetric(float64(ours.wall.Nanoseconds())/float64(b.N), "ns/op")
	b.ReportMetric(float64(again.wall.Nanoseconds())/float64(b.N), "again-ns/op")
	if peer != "" {
		b.ReportMetric(float64(theirs.wall.Nanoseconds())/float64(b.N), "terraform-ns/op")
		b.ReportMetric(float64(ours.wall)/float64(theirs.wall), "ratio")
		b.ReportMetric(float64(again.wall)/float64(theirs.wall), "again-ratio")
	}
}

// lockBench runs one providers lock in a new directory.
func lockBench(b *testing.B, program string, env []string) cost {
	b.Helper()
	dir := b.TempDir()
	must.Write(b, filepath.Join(dir, "main.tf"), harness.LockConfig("p0", "", "p1", "", "p2", "", "p3", "", "p4", ""))
	line := []string{program, "providers", "lock", "-no-color"}
	for _, platform := range harness.LockPlatforms {
		line = append(line, "-platform="+platform)
	}
	start := time.Now()
	harness.Run(b, dir, env, line...)
	return cost{wall: time.Since(start)}
}
