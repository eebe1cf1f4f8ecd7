package oracle

import (
	"bytes"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
)

// providersExemptions are the cases in which `providers` may say something
// else than Terraform's, with the reason.
var providersExemptions = map[string]harness.Exemption{
	"lock_broken":              {Reason: installedFirst},
	"lock_without_hashes":      {Reason: installedFirst},
	"lock_with_wrong_hash":     {Reason: installedFirst},
	"lock_with_unknown_scheme": {Reason: installedFirst},

	"modules_root_blocks": {Before: "1.15", Reason: "difference 32: what is wrong with a module is an error of get here, and of Terraform's init"},
	"legacy_address":      {Reason: "difference 22: an address without a namespace in the configuration is reported here, and not only when it can't be installed"},
	"only_tests":          {Before: "1.12", Reason: "difference 24: from 1.12 on, and here, a directory with nothing but test files isn't empty"},
	"backend":             {Reason: "difference 32: Terraform says nothing at all before the backend is initialized"},
}

const installedFirst = "difference 32: Terraform wants what is in the lock file to be installed, though it starts no provider"

func TestProvidersExemptions_NameDifferences(t *testing.T) {
	harness.CheckExemptions(t, providersExemptions)
}

// TestProviders_SameAsTerraform runs `get`, if there are modules, and then
// `providers` of both programs, after each step of all cases in
// testdata/oracle, and in the directories CASE/... of the archives in
// testdata/oracle_providers. Both have to fail, or to print the same tree.
// Siblings may stand in any order, which is random in Terraform.
func TestProviders_SameAsTerraform(t *testing.T) {
	t.Parallel()
	peer := harness.LookTerraform(t)
	registry := newOracleRegistry(t, nil)
	programs := [2]string{harness.Tfdeps(t), peer}
	cases := providersCases(t)
	if len(cases) < 90 {
		t.Errorf("there are %d cases, want 90 at least", len(cases))
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			harness.PeerCase(t)
			o := &providersRun{newRegistryRun(t, cases[name], registry, programs)}
			o.compareProviders(providersExemptions[name].Now(t).Reason)
		})
	}
	for name := range providersExemptions {
		if _, ok := cases[name]; !ok {
			t.Errorf("exemption for %q, which is no case", name)
		}
	}
}

// providersCases reads the cases: their steps, and the files of each.
func providersCases(t *testing.T) map[string]*txtar.Archive {
	t.Helper()
	cases := readCases(t, "testdata/oracle_providers/*.txtar", false)
	for _, archive := range cases {
		for i := range archive.Files {
			archive.Files[i].Name = "1/" + archive.Files[i].Name // they have one step
		}
	}
	paths, err := filepath.Glob(harness.Path(t, "testdata/oracle/*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("testdata/oracle: no cases (%v)", err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		mustDo(t, err)
		cases[strings.TrimSuffix(filepath.Base(path), ".txtar")] = archive
	}
	return cases
}

// providersRun is one case under way.
type providersRun struct{ *oracleRun }

func (o *providersRun) compareProviders(exemption string) {
	for _, step := range slices.Sorted(maps.Keys(o.steps)) {
		ours, theirs := o.sayProviders(0, o.steps[step]), o.sayProviders(1, o.steps[step])
		switch {
		case slices.Equal(ours, theirs):
		case exemption != "":
			o.differed = true
		default:
			o.t.Errorf("step %s\n--- ours\n%s\n--- theirs\n%s", step, strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
		}
	}
	if exemption != "" && !o.differed {
		o.t.Errorf("nothing differs, so there is no need for the exemption (%s)", exemption)
	}
}

// sayProviders lays out files, and returns what a program makes of them.
func (o *providersRun) sayProviders(program int, files map[string]string) (said []string) {
	o.t.Helper()
	o.prepare(o.dirs[program], files)
	if o.hasModules() {
		_, err := o.run(o.programs[program], o.dirs[program], "get", "-no-color")
		said = append(said, "get: "+outcome(err))
	}
	tree, err := o.providers(program)
	return append(append(said, "providers: "+outcome(err)), tree...)
}

// hasModules reports whether any step has. Without, get would have nothing to do.
func (o *providersRun) hasModules() bool {
	for _, files := range o.steps {
		for _, content := range files {
			if strings.Contains(content, "module ") || strings.Contains(content, `"module"`) {
				return true
			}
		}
	}
	return false
}

func outcome(err error) string {
	if err != nil {
		return "failed"
	}
	return "went well"
}

// providers runs the command, and returns what it says in an order of its own.
func (o *providersRun) providers(program int) ([]string, error) {
	cmd := exec.CommandContext(o.t.Context(), o.programs[program], "providers", "-no-color")
	cmd.Dir, cmd.Env = o.dirs[program], o.env
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	return treePaths(out.String()), err
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
	want := []string{".", "a", "b", "b > c", "b > d", "e", "e > f"}
	if got := treePaths(drawn); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
