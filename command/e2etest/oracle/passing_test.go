package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
)

// TestModules_PassProvidersAsInTerraform runs init of both programs for each case in
// testdata/oracle_modules/passing, CASE/FILE, and where it fails get in
// other directories, with providers after it. Exit codes and lock files have to be equal, and so has the set of what is
// wrong: how severe it is, its summary, and for init its place.
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
		if o.sameWord(files, "get", "-no-color") { // else there is no record of modules here
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

// saysOf runs a program on files, and returns how it ended and what it reported, sorted and each
// once.
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

// decodeDiagnostic reads a line of what -json prints. That something is wrong
// with the configuration in general doesn't count: when that is reported isn't the
// subject here.
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
