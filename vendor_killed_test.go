package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// fresh removes all that was vendored.
func (v *vendoring) fresh(t *testing.T) {
	t.Helper()
	for _, name := range []string{".terraform", "terraform.d", ".terraform.lock.hcl", ".gitattributes"} {
		if err := os.RemoveAll(filepath.Join(v.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(v.dir, ".gitignore"), []byte(".terraform/\n*.tfvars\n"))
}

// isEndedAtAnyTime interrupts and kills runs at random. The next one that isn't
// makes of what is left what it would have made of nothing.
func (b vendorBuilds) isEndedAtAnyTime(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process can't be interrupted there")
	}
	v := b.newVendoring(t)
	v.vendor(t)
	want := v.files(t, v.top)
	v.registry.Break("archive", providertest.Fault{Pause: time.Millisecond})
	rounds, ended := 50, 0
	if testing.Short() {
		rounds = 10
	}
	for i := range rounds {
		v.fresh(t)
		cmd := exec.CommandContext(t.Context(), v.program, "vendor")
		cmd.Dir, cmd.Env = v.dir, v.env
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		signal := []os.Signal{os.Interrupt, os.Kill}[i%2]
		timer := time.AfterFunc(time.Duration(rand.IntN(400))*time.Millisecond, func() { _ = cmd.Process.Signal(signal) })
		if cmd.Wait() != nil {
			ended++
		}
		timer.Stop()
		v.vendor(t)
		sameFiles(t, "after "+signal.String(), want, v.visible(t))
		if t.Failed() {
			return
		}
	}
	if ended == 0 {
		t.Error("no run was ended")
	}
}

// visible are the files without those of a directory that a killed run had just
// made, and hadn't locked yet: only its age will tell that nobody works in it.
func (v *vendoring) visible(t *testing.T) map[string]string {
	t.Helper()
	files := v.files(t, v.top)
	for name := range files {
		if strings.Contains(name, "/.tfdeps-") && strings.HasSuffix(name, "/.lock.new") {
			delete(files, name)
		}
	}
	return files
}

// runsAtOnce has two runs in one directory at the same time.
func (b vendorBuilds) runsAtOnce(t *testing.T) {
	v := b.newVendoring(t)
	v.vendor(t)
	want := v.files(t, v.top)
	for range 5 {
		v.fresh(t)
		var runs []*exec.Cmd
		for range 2 {
			cmd := exec.CommandContext(t.Context(), v.program, "vendor")
			cmd.Dir, cmd.Env = v.dir, v.env
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			runs = append(runs, cmd)
		}
		for _, cmd := range runs {
			_ = cmd.Wait() // one may find what the other is just replacing
		}
		v.vendor(t)
		sameFiles(t, "after two", want, v.files(t, v.top))
	}
}
