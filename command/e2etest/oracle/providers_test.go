package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// providersExemptions are the cases in which the output of `providers` may differ
// from Terraform's, with the reason.
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
// Siblings may be in any order, because Terraform's is random.
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

// sayProviders writes files, and returns the output of a program's `providers`.
func (o *run) sayProviders(program int, files map[string]string) (said string) {
	o.t.Helper()
	o.prepare(program, files)
	if o.hasModules() {
		said = "get: " + outcome(o.in(program, program, "get", "-no-color")) + "\n"
	}
	end := o.in(program, program, "providers", "-no-color")
	return said + "providers: " + outcome(end) + "\n" + joined(treePaths(end.Out))
}

// hasModules reports whether any step has modules, so that get has something to do.
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

// treePaths converts the lines of a drawn tree to sorted paths, because the last
// of several siblings is drawn differently. Lines without a drawing stay
// unchanged, up to the first warning.
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

// TestTreePaths_SeeWhatIsBelowWhat tests the helper.
func TestTreePaths_SeeWhatIsBelowWhat(t *testing.T) {
	const drawn = ".\n├── a\n├── b\n│\u00a0\u00a0 ├── c\n│\u00a0\u00a0 └── d\n└── e\n    └── f\n\nWarning: x\n├── y\n"
	must.EqualSlices(t, treePaths(drawn), []string{".", "a", "b", "b > c", "b > d", "e", "e > f"})
}

// TestModules_PassProvidersAsInTerraform runs init of both programs for each case in
// testdata/oracle_modules/passing, CASE/FILE, and where it fails get in
// other directories, with providers after it. Exit codes and lock files have to be equal, and so has the set of
// diagnostics: their severity, summary, and for init the place.
func TestModules_PassProvidersAsInTerraform(t *testing.T) {
	t.Parallel()
	p := withTerraform(t)
	p.env = harness.Env
	eachCase(t, readCases(t, "testdata/oracle_modules/passing/*.txtar", inGroups), passingExemptions, 150, func(t *testing.T, all []txtar.File, allowed harness.Exemption) {
		o, files := p.begin(t, nil, harness.Exemption{}), byName(all)
		if allowed.Exit || o.sameWord(files, "init", "-json", "-input=false") {
			return
		}
		o.makeDirs()
		if harness.PeerOlderThan(t, "1.15") { // difference 52
			o.saysOf(0, files, []string{"get", "-no-color"})
			if slices.Contains(o.saysOf(1, files, []string{"get", "-no-color"}), outcome(harness.Ended{})) {
				o.sameWord(files, "providers", "-no-color")
			}
			return
		}
		if o.sameWord(files, "get", "-no-color") { // otherwise modules.json is missing here
			o.sameWord(files, "providers", "-no-color")
		}
	})
}

// passingExemptions are the cases of TestModules_PassProvidersAsInTerraform of which the two
// programs may report different things.
var passingExemptions = map[string]harness.Exemption{
	"wanted/beside_an_error_in_the_module": {Exit: true, Before: "1.15", Reason: "difference 52: up to 1.14 a module with errors is asked what it wants"},
}

// sameWord runs a command of both programs on files, and reports whether it went well.
func (o *run) sameWord(files map[string]string, command ...string) (well bool) {
	o.t.Helper()
	ours, theirs := o.saysOf(0, files, command), o.saysOf(1, files, command)
	o.same("what "+command[0]+" says", joined(ours), joined(theirs), false)
	o.sameLock("after " + command[0])
	return slices.Contains(theirs, outcome(harness.Ended{}))
}

// saysOf runs a program on files, and returns its exit code and its diagnostics, sorted and without
// duplicates.
func (o *run) saysOf(program int, files map[string]string, command []string) (found []string) {
	o.t.Helper()
	o.prepare(program, files)
	end := o.in(program, program, command...)
	found = append(found, outcome(end))
	for line := range strings.Lines(end.Said()) {
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

// decodeDiagnostic decodes a line of -json. It skips the general message about errors
// in the configuration, because these tests aren't about when that is
// printed.
func decodeDiagnostic(line string) (string, bool) {
	var message jsonLine
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

// jsonCases are configurations, and the options of init in their files "args".
var jsonCases = map[string]files{
	"backend of an unknown type":    {"main.tf": "terraform {\n  backend \"mars\" {\n    x = 1\n  }\n}\n"},
	"backend changed":               {"main.tf": "terraform {\n  backend \"local\" {\n    path = \"x\"\n  }\n}\n", "terraform.tfstate": `{"version": 4}`},
	"unknown argument":              {"main.tf": "terraform {\n  backend \"local\" {\n    nothing = 1\n  }\n}\n"},
	"unknown block":                 {"main.tf": "locals {}\n\nnothing {\n}\n"},
	"syntax":                        {"main.tf": "locals {\n  x = \n}\n"},
	"provider that doesn't exist":   {"main.tf": "resource \"nothing_thing\" \"x\" {}\n"},
	"version that doesn't exist":    {"main.tf": "terraform {\n  required_providers {\n    widget = { source = \"acme/widget\", version = \"9.9.9\" }\n  }\n}\n"},
	"module without source":         {"main.tf": "module \"m\" {\n}\n"},
	"module that calls a bad one":   {"main.tf": "module \"m\" {\n  source = \"./m\"\n}\n", "m/main.tf": "locals {\n"},
	"copied":                        {"args": "-from-module=./source", "source/main.tf": "locals {}\n"},
	"copied without a backend":      {"args": "-from-module=./source -backend=false", "source/main.tf": "module \"m\" {\n  source = \"./m\"\n}\n", "source/m/main.tf": "locals {}\n"},
	"duplicate":                     {"main.tf": "variable \"x\" {}\nvariable \"x\" {}\n"},
	"local backend":                 {"main.tf": "terraform {\n  backend \"local\" {}\n}\n"},
	"lock file that can't be read":  {"main.tf": "locals {}\n", ".terraform.lock.hcl": "provider {\n"},
	"modules that are there":        {"main.tf": "module \"a\" {\n  source = \"./m\"\n}\nresource \"alpha_thing\" \"x\" {}\n", "m/main.tf": "locals {}\n"},
	"constraint that can't be read": {"main.tf": "terraform {\n  required_providers {\n    widget = { source = \"acme/widget\", version = \"one\" }\n  }\n}\n"},
}

// jsonSince are the cases that older versions of Terraform report differently.
var jsonSince = map[string]string{"local backend": "1.15", "backend changed": "1.15", "lock file that can't be read": "1.15"}

// TestInitJSON_SameAsTerraform compares the messages of init -json, and of diagnostics severity, summary and place, to the column.
func TestInitJSON_SameAsTerraform(t *testing.T) {
	t.Parallel()
	compareJSON(t, withTerraform(t))
}

func compareJSON(t *testing.T, p *pair) {
	t.Helper()
	cases := maps.Clone(jsonCases)
	maps.DeleteFunc(cases, func(name string, _ files) bool {
		return jsonSince[name] != "" && harness.PeerOlderThan(t, jsonSince[name])
	})
	eachCase(t, cases, nil, 10, func(t *testing.T, c files, allowed harness.Exemption) {
		o := p.begin(t, nil, allowed)
		var said [2]string
		for i := range said {
			o.prepare(i, c)
			end := o.in(i, i, append([]string{"init", "-json"}, strings.Fields(c["args"])...)...)
			lines := o.placesOf(end.Said())
			slices.Sort(lines) // differences 22 and 60: each error once, and in another order
			said[i] = fmt.Sprintf("exit %d\n%s", end.Code, joined(slices.Compact(lines)))
		}
		o.same("what is said", said[0], said[1], false)
	})
}

// jsonLine has the compared keys of a line of -json.
type jsonLine struct {
	Type       string
	Message    string `json:"@message"`
	Diagnostic struct {
		Severity, Summary string
		Range             struct {
			Filename   string
			Start, End struct{ Line, Column int }
		}
	}
}

// placesOf returns the lines of init -json without explanations, and without lines that only tfdeps or only Terraform prints.
func (o *run) placesOf(out string) (said []string) {
	o.t.Helper()
	for line := range strings.Lines(out) {
		var object jsonLine
		if !strings.HasPrefix(line, "{") {
			continue
		}
		must.Succeed(o.t, json.Unmarshal([]byte(line), &object), line)
		d := object.Diagnostic
		switch object.Type {
		case "version", "package", "module", "summary": // difference 60
		case "diagnostic":
			said = append(said, fmt.Sprintf("%s %s %s:%v-%v", d.Severity, d.Summary, d.Range.Filename, d.Range.Start, d.Range.End))
		default:
			said = append(said, keyID.ReplaceAllString(object.Message, "key ID KEY"))
		}
	}
	return said
}
