package oracle

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// tofuExemptions are the cases in which tfdeps in the place of OpenTofu and
// OpenTofu may differ; see exemptions.
var tofuExemptions = map[string]harness.Exemption{
	"stray_file":               {Exit: true, Lock: true, Reason: "difference 3: OpenTofu refuses a package that was changed, here it is installed again"},
	"lock_with_unknown_scheme": exemptions["lock_with_unknown_scheme"],
	"zip_setuid":               exemptions["zip_setuid"],
}

// TestInit_SameAsTofu is [TestInit_SameAsTerraform] for tfdeps in the place of tofu, which
// is a link of that name, and the real one: the same cases, and those in
// testdata/oracle_tofu. What init has to fail with isn't looked at, as OpenTofu
// goes on where Terraform doesn't, and the other way round.
func TestInit_SameAsTofu(t *testing.T) {
	t.Parallel()
	p := withTofu(t)
	p.agree = true
	own := readCases(t, "testdata/oracle_tofu/*.txtar", func(archive, name string) (string, string) { return archive, name })
	if len(own) < 12 {
		t.Errorf("there are %d cases of its own, want 12 at least", len(own))
	}
	maps.Copy(own, initCases(t))
	compareInit(t, p, own, tofuExemptions)
}

// TestModules_SameAsTofu is [TestModules_SameAsTerraform] for OpenTofu.
func TestModules_SameAsTofu(t *testing.T) {
	t.Parallel()
	p := withTofu(t)
	p.agree = true
	compareModules(t, p)
}

// linkedAs is tfdeps under another name.
func linkedAs(t *testing.T, name string) string {
	t.Helper()
	return harness.LinkTo(t, harness.Tfdeps(t), name+harness.ExeSuffix())
}

// tofuVersion asks the real tofu.
func tofuVersion(t *testing.T, program string) string {
	t.Helper()
	out := harness.Run(t, "", harness.Env(t, "CHECKPOINT_DISABLE=1"), program, "version", "-json")
	var told struct {
		Version string `json:"terraform_version"`
	}
	must.Succeed(t, json.Unmarshal([]byte(out), &told))
	return told.Version
}

// TestInit_TofuWorksWithIt has OpenTofu run in the directories that tfdeps leaves:
// it has nothing to install, and changes neither lock file nor packages. In the
// cases of [TestInit_SameAsTerraform] the addresses are written out for that, because
// another registry is the default there; where they are implied, the case isn't one.
func TestInit_TofuWorksWithIt(t *testing.T) {
	t.Parallel()
	p := newPair(t, [2]string{harness.Tfdeps(t), harness.LookTofu(t)}, harness.PinnedEnv)
	cases := initCases(t)
	done := make(chan bool, len(cases))
	t.Cleanup(func() {
		if len(done) < 20 {
			t.Errorf("OpenTofu was asked in %d cases, want 20 at least", len(done))
		}
	})
	for name, files := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i := range files {
				files[i].Data = writtenOut(files[i].Data)
			}
			if p.begin(t, files, harness.Exemption{}).followedBy() {
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
func (o *run) followedBy() bool {
	o.t.Helper()
	var configuration strings.Builder
	for _, step := range slices.Sorted(maps.Keys(o.steps)) {
		files := o.steps[step]
		if _, fails := files["fails"]; fails {
			return false
		}
		o.prepare(0, files)
		args := append([]string{"init", "-no-color", "-input=false"}, strings.Fields(files["args"])...)
		if end := o.in(0, 0, args...); end.Code != 0 {
			o.t.Fatalf("tfdeps %s: %s", args, end)
		}
		for _, content := range files {
			configuration.WriteString(content)
		}
	}
	lock := harness.ReadLock(o.t, o.dirs[0])
	for _, locked := range regexp.MustCompile(`(?m)^provider "(.*)"`).FindAllStringSubmatch(lock, -1) {
		if !strings.Contains(configuration.String(), locked[1]+`"`) {
			return false
		}
	}
	tree := joined(harness.ListTree(o.t, o.dirs[0]))
	if end := o.in(0, 1, "init", "-no-color", "-input=false", "-lockfile=readonly"); end.Code != 0 {
		o.t.Fatalf("tofu init: %s", end)
	} else if strings.Contains(end.Said(), "Installing ") {
		o.t.Errorf("tofu installs what is there:\n%s", end)
	}
	o.same("the lock file before and after tofu", lock, harness.ReadLock(o.t, o.dirs[0]), false)
	o.same("what is installed before and after tofu", tree, joined(harness.ListTree(o.t, o.dirs[0])), false)
	return true
}
