package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
)

// BenchmarkCacheKey prints the key of a lock file with ten providers, as a CI job
// does before it has anything else. Its budget is 20 ms, the program's start
// included.
func BenchmarkCacheKey(b *testing.B) {
	program, dir := buildTfdeps(b), b.TempDir()
	env := peerEnv(b)
	var lock strings.Builder
	for i := range 10 {
		fmt.Fprintf(&lock, "provider \"registry.terraform.io/acme/p%d\" {\n  version = \"1.%d.0\"\n  hashes = [\n", i, i)
		for platform := range 15 {
			fmt.Fprintf(&lock, "    \"zh:%064x\",\n", 100*i+platform)
		}
		lock.WriteString("  ]\n}\n\n")
	}
	writeFile(b, filepath.Join(dir, depsfile.FileName), []byte(lock.String()))
	for b.Loop() {
		cmd := exec.Command(program, "cache", "key", "-github")
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
}
