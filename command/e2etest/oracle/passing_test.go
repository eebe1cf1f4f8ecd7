package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
)

// TestModules_PassProvidersAsInTerraform runs init of both programs for each case in
// testdata/oracle_modules/passing, CASE/FILE, and where it fails get in
// other directories, with providers after it. Exit codes and lock files have to be equal, and so has the set of what is
// wrong: how severe it is, its summary, and for init its place.
func TestModules_PassProvidersAsInTerraform(t *testing.T) {
	t.Parallel()
	peer := harness.LookTerraform(t)
	registry := newOracleRegistry(t, nil)
	programs := [2]string{harness.Tfdeps(t), peer}
	cases := passingCases(t)
	if len(cases) < 150 {
		t.Errorf("there are %d cases, want 150 at least", len(cases))
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			harness.PeerCase(t)
			env, err := registry.Env(t.TempDir(), oracleHosts...)
			mustDo(t, err)
			o := &oracleRun{t: t, programs: programs, env: harness.Env(t, env...)}
			if passingExemptions[name].Now(t).Exit {
				return
			}
			if o.sameWord(cases[name], "init", "-json", "-input=false") {
				return
			}
			o = &oracleRun{t: t, programs: programs, env: o.env}
			if harness.PeerOlderThan(t, "1.15") { // difference 52
				o.makeDirs()
				o.saysOf(0, cases[name], []string{"get", "-no-color"})
				if slices.Contains(o.saysOf(1, cases[name], []string{"get", "-no-color"}), outcome(nil)) {
					o.sameWord(cases[name], "providers", "-no-color")
				}
				return
			}
			if o.sameWord(cases[name], "get", "-no-color") { // else there is no record of modules here
				o.sameWord(cases[name], "providers", "-no-color")
			}
		})
	}
}

// passingExemptions are the cases of TestModules_PassProvidersAsInTerraform of which the two
// programs may report different things.
var passingExemptions = map[string]harness.Exemption{
	"wanted/beside_an_error_in_the_module": {Exit: true, Before: "1.15", Reason: "difference 52: up to 1.14 a module with errors is asked what it wants"},
}

func TestPassingExemptions_NameDifferences(t *testing.T) {
	harness.CheckExemptions(t, passingExemptions)
	for name := range passingExemptions {
		if passingCases(t)[name] == nil {
			t.Errorf("exemption for %q, which is no case", name)
		}
	}
}

// sameWord runs a command of both programs on files, and reports whether it went well.
func (o *oracleRun) sameWord(files map[string]string, command ...string) (well bool) {
	o.t.Helper()
	if o.dirs[0] == "" {
		o.makeDirs()
	}
	ours, theirs := o.saysOf(0, files, command), o.saysOf(1, files, command)
	if !slices.Equal(ours, theirs) {
		o.t.Errorf("%s\n--- ours\n%s\n--- theirs\n%s", command[0], strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
	}
	o.sameLock("after "+command[0], harness.Exemption{})
	return slices.Contains(theirs, outcome(nil))
}

// passingCases reads the cases: their files by "ARCHIVE/CASE".
func passingCases(t *testing.T) map[string]map[string]string {
	t.Helper()
	cases := map[string]map[string]string{}
	for name, archive := range readCases(t, "testdata/oracle_modules/passing/*.txtar", true) {
		cases[name] = map[string]string{}
		for _, f := range archive.Files {
			cases[name][f.Name] = string(f.Data)
		}
	}
	return cases
}

// saysOf runs a program on files, and returns how it ended and what it reported, sorted and each
// once.
func (o *oracleRun) saysOf(program int, files map[string]string, command []string) (found []string) {
	o.t.Helper()
	o.prepare(o.dirs[program], files)
	out, err := o.run(o.programs[program], o.dirs[program], command...)
	found = append(found, outcome(err))
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Error: ") || strings.HasPrefix(line, "Warning: ") {
			found = append(found, line)
		} else if diag, ok := decodeDiagnostic(line); ok {
			found = append(found, diag)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// anywhere are summaries that Terraform reports at one of several places, at random or by a rule
// of its own.
var anywhere = []string{"Duplicate required provider", "Redundant empty provider block"}

// decodeDiagnostic reads a line of what -json prints. That something is wrong
// with the configuration in general doesn't count: when that is reported isn't the
// subject here.
func decodeDiagnostic(line string) (string, bool) {
	var message struct {
		Type       string
		Diagnostic struct {
			Severity, Summary string
			Range             struct {
				Filename string
				Start    struct{ Line, Column int }
				End      struct{ Line, Column int }
			}
		}
	}
	if err := json.Unmarshal([]byte(line), &message); err != nil || message.Type != "diagnostic" {
		return "", false
	}
	diag := message.Diagnostic
	switch {
	case strings.HasPrefix(diag.Summary, "Terraform encountered problems during initialisation"):
		return "", false
	case slices.Contains(anywhere, diag.Summary):
		return diag.Severity + ": " + diag.Summary, true
	}
	return fmt.Sprintf("%s: %s at %v", diag.Severity, diag.Summary, diag.Range), true
}
