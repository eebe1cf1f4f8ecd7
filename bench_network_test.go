package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
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
	program, peer := buildTfdeps(b), peerIfAny()
	archives := b.TempDir()
	env := startBenchRegistry(b, program, fmt.Sprint("-latency=", benchLatency), fmt.Sprint("-rate=", benchRate), "-dir="+archives)
	largest, err := os.Stat(filepath.Join(archives, "p9_"+getproviders.CurrentPlatform().String()+".zip"))
	if err != nil {
		b.Fatal(err)
	}
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
