package main

import (
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// lookTofu finds OpenTofu. No archive of packages has it, so a test is skipped
// without it even where peers are required.
func lookTofu(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("tofu")
	if err != nil {
		tb.Skip("tofu is not on PATH")
	}
	return path
}

// TestTofuGoesOnFromThere has OpenTofu run in the directories that tfdeps leaves:
// it has nothing to install, and changes neither lock file nor packages. In the
// cases of [TestSameAsTerraform] the addresses are written out for that, because
// another registry is the default there; where they are implied, the case isn't one.
func TestTofuGoesOnFromThere(t *testing.T) {
	t.Parallel()
	tofu := lookTofu(t)
	registry := newOracleRegistry(t, nil)
	programs := [2]string{buildTfdeps(t), tofu}
	cases, err := filepath.Glob("testdata/oracle/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan bool, len(cases))
	t.Cleanup(func() {
		if len(done) < 20 {
			t.Errorf("OpenTofu was asked in %d cases, want 20 at least", len(done))
		}
	})
	for _, file := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i := range archive.Files {
				archive.Files[i].Data = writtenOut(archive.Files[i].Data)
			}
			if newRegistryRun(t, archive, registry, programs).followedBy() {
				done <- true
			}
		})
	}
}

// twoParts matches an address without a host.
var twoParts = regexp.MustCompile(`("?source"?\s*[=:]\s*")(\w+/\w+")`)

func writtenOut(config []byte) []byte {
	return twoParts.ReplaceAll(config, []byte("${1}another.example.org/$2"))
}

// followedBy runs the first program by the case, and the second in the directory
// that it leaves. It reports whether the case is one for that.
func (o *oracleRun) followedBy() bool {
	o.t.Helper()
	var configuration strings.Builder
	for _, step := range slices.Sorted(maps.Keys(o.steps)) {
		files := o.steps[step]
		if _, fails := files["fails"]; fails {
			return false
		}
		o.prepare(o.dirs[0], files)
		args := append([]string{"init", "-no-color", "-input=false"}, strings.Fields(files["args"])...)
		if out, err := o.run(o.programs[0], o.dirs[0], args...); err != nil {
			o.t.Fatalf("tfdeps %s: %v\n%s", args, err, out)
		}
		for _, content := range files {
			configuration.WriteString(content)
		}
	}
	lock := readLock(o.t, o.dirs[0])
	for _, locked := range regexp.MustCompile(`(?m)^provider "(.*)"`).FindAllStringSubmatch(lock, -1) {
		if !strings.Contains(configuration.String(), locked[1]+`"`) {
			return false
		}
	}
	tree := listTree(o.t, o.dirs[0])
	if out, err := o.run(o.programs[1], o.dirs[0], "init", "-no-color", "-input=false", "-lockfile=readonly"); err != nil {
		o.t.Fatalf("tofu init: %v\n%s", err, out)
	} else if strings.Contains(out, "Installing ") {
		o.t.Errorf("tofu installs what is there:\n%s", out)
	}
	if after := readLock(o.t, o.dirs[0]); after != lock {
		o.t.Errorf("tofu changed the lock file\n--- before\n%s\n--- after\n%s", lock, after)
	}
	if after := listTree(o.t, o.dirs[0]); !slices.Equal(after, tree) {
		o.t.Errorf("tofu changed the packages\n--- before\n%s\n--- after\n%s", strings.Join(tree, "\n"), strings.Join(after, "\n"))
	}
	return true
}
