package oracle

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// providersExemptions are the cases in which `providers` may say something
// else than Terraform's, with the reason.
var providersExemptions = map[string]harness.Exemption{
	"lock_without_hashes":      {Reason: installedFirst},
	"lock_with_wrong_hash":     {Reason: installedFirst},
	"lock_with_unknown_scheme": {Reason: installedFirst},

	"modules_root_blocks": {Before: "1.15", Reason: "difference 32: what is wrong with a module is an error of get here, and of Terraform's init"},
	"legacy_address":      {Reason: "difference 22: an address without a namespace in the configuration is reported here, and not only when it can't be installed"},
	"only_tests":          {Before: "1.12", Reason: "difference 24: from 1.12 on, and here, a directory with nothing but test files isn't empty"},
	"backend":             {Reason: "difference 32: Terraform says nothing at all before the backend is initialized"},
}

const installedFirst = "difference 32: Terraform wants what is in the lock file to be installed, though it starts no provider"

// TestProviders_SameAsTerraform runs `get`, if there are modules, and then
// `providers` of both programs, after each step of all cases in
// testdata/oracle, and in the directories CASE/... of the archives in
// testdata/oracle_providers. Both have to fail, or to print the same tree.
// Siblings may stand in any order, which is random in Terraform.
func TestProviders_SameAsTerraform(t *testing.T) {
	t.Parallel()
	p := withTerraform(t)
	cases := readCases(t, "testdata/oracle_providers/*.txtar", func(archive, name string) (string, string) {
		name, file := several(archive, name)
		return name, "1/" + file // they have one step
	})
	maps.Copy(cases, initCases(t))
	eachCase(t, cases, providersExemptions, 90, func(t *testing.T, files []txtar.File, allowed harness.Exemption) {
		o := p.begin(t, files, allowed)
		for _, step := range slices.Sorted(maps.Keys(o.steps)) {
			o.same("step "+step, o.sayProviders(0, o.steps[step]), o.sayProviders(1, o.steps[step]), allowed.Reason != "")
		}
		o.isNeeded()
	})
}

// sayProviders lays out files, and returns what a program makes of them.
func (o *run) sayProviders(program int, files map[string]string) (said string) {
	o.t.Helper()
	o.prepare(program, files)
	if o.hasModules() {
		said = "get: " + outcome(o.in(program, program, "get", "-no-color")) + "\n"
	}
	end := o.in(program, program, "providers", "-no-color")
	return said + "providers: " + outcome(end) + "\n" + joined(treePaths(end.Out))
}

// hasModules reports whether any step has. Without, get would have nothing to do.
func (o *run) hasModules() bool {
	for _, files := range o.steps {
		for _, content := range files {
			if strings.Contains(content, "module ") || strings.Contains(content, `"module"`) {
				return true
			}
		}
	}
	return false
}

// treePaths writes the lines of a drawn tree as paths, sorted: what is the last
// of several siblings looks like the others then. Lines without a drawing stay
// as they are, up to the first warning.
func treePaths(out string) (paths []string) {
	out, _, _ = strings.Cut(out, "\nWarning: ")
	var above []string
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		text := strings.TrimLeft(line, "│├└─ \u00a0")
		if !strings.ContainsAny(line, "├└") {
			paths = append(paths, line)
			continue
		}
		depth := (len([]rune(line)) - len([]rune(text))) / 4
		above = append(above[:min(depth-1, len(above))], text)
		paths = append(paths, strings.Join(above, " > "))
	}
	slices.Sort(paths)
	return paths
}

// TestTreePaths_SeeWhatIsBelowWhat tests the tester.
func TestTreePaths_SeeWhatIsBelowWhat(t *testing.T) {
	const drawn = ".\n├── a\n├── b\n│\u00a0\u00a0 ├── c\n│\u00a0\u00a0 └── d\n└── e\n    └── f\n\nWarning: x\n├── y\n"
	must.EqualSlices(t, treePaths(drawn), []string{".", "a", "b", "b > c", "b > d", "e", "e > f"})
}
