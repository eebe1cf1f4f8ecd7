// Package oracle runs tfdeps and the real terraform, or tofu, on the same
// directories, and compares their files and output.
package oracle

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestMain(m *testing.M) { harness.Main(m) }

// exemptions lists all exemptions. "Difference N" is an entry of the list in
// docs/differences.md.
var exemptions = map[string]harness.Exemption{
	"stray_file":               {Lock: true, Tree: true, Reason: "difference 3: Terraform unpacks around the stray file and locks what comes out"},
	"lock_with_unknown_scheme": {Exit: true, Lock: true, Reason: "difference 43: Terraform installs as if the entry had no hashes, and drops those that it doesn't know"},
	"zip_setuid":               {Tree: true, Reason: "difference 12: Terraform leaves the setuid bit on"},
}

// TestInit_SameAsTerraform runs tfdeps and the real terraform in sibling
// directories, from one registry, and compares their files on disk byte
// for byte; then each runs in the other's directory, where it has nothing to
// do.
//
// A case is an archive in testdata/oracle. Its files 1/... are laid into both
// directories before the first run of init, 2/... before the second, and so
// on. Three names have a meaning of their own: N/args holds arguments of init,
// N/remove names paths to be removed first, and N/fails says that init has to
// fail, and with which text. $REGISTRY stands for the host of the registry,
// $PLATFORM for this machine's platform.
func TestInit_SameAsTerraform(t *testing.T) {
	t.Parallel()
	compareInit(t, withTerraform(t), initCases(t), exemptions)
}

func compareInit(t *testing.T, p *pair, cases map[string][]txtar.File, exempt map[string]harness.Exemption) {
	t.Helper()
	eachCase(t, cases, exempt, 30, func(t *testing.T, files []txtar.File, allowed harness.Exemption) {
		if runtime.GOOS == "windows" && slices.ContainsFunc(files, func(f txtar.File) bool { return strings.Contains(string(f.Data), "$REGISTRY/") }) {
			t.Skip("a host has a port")
		}
		o := p.begin(t, files, allowed)
		failed := false
		for _, step := range slices.Sorted(maps.Keys(o.steps)) {
			failed = o.step(step)
			o.sameLock("after step " + step)
			if !failed {
				o.sameTree("after step " + step)
			}
		}
		if !failed {
			o.crossOver()
		}
		o.isNeeded()
	})
}

// initCases reads the cases, an archive each.
func initCases(t *testing.T) map[string][]txtar.File {
	t.Helper()
	return readCases(t, "testdata/oracle/*.txtar", func(archive, name string) (string, string) { return archive, name })
}

func TestExemptions_NameDifferences(t *testing.T) {
	for _, all := range []map[string]harness.Exemption{exemptions, tofuExemptions, moduleExemptions, providersExemptions, passingExemptions, tofuStatusExemptions} {
		harness.CheckExemptions(t, all)
	}
}

func (o *run) sameTree(when string) {
	o.t.Helper()
	ours, theirs := harness.ListTree(o.t, o.dirs[0]), asOurs(harness.ListTree(o.t, o.dirs[1]))
	o.same(when+", .terraform/providers", strings.Join(ours, "\n"), strings.Join(theirs, "\n"), o.allowed.Tree)
}

// asOurs removes the files by which OpenTofu locks packages, which OpenTofu
// never removes, from a tree, and sets the mode of a backend's record to that of tfdeps,
// which is difference 13.
func asOurs(tree []string) []string {
	for i, line := range tree {
		if mode, record, _ := strings.Cut(line, " "); strings.HasPrefix(record, ".terraform/terraform.tfstate ") && mode == "-rw-r--r--" {
			tree[i] = "-rw------- " + record
		}
	}
	return slices.DeleteFunc(tree, func(line string) bool {
		return strings.Contains(line, " .terraform/providers/") && strings.Contains(line, "/"+getproviders.CurrentPlatform().String()+".lock ")
	})
}

// TestCommands_SameAsTerraform runs the same lines with both programs, and compares
// which of them fail, and, unless that is the last one, lock files, modules.json and
// the selected workspace.
//
// Each archive in testdata/oracle_commands, and in testdata/oracle_both, which is for OpenTofu, too, holds several cases, CASE/FILE. The lines are in
// CASE/run: "! " in front says that the program has to fail, NAME=VALUE words before the command
// are its environment, "ours " says that the line is for tfdeps only, and "rm", "mv" and "cp" lines change files
// instead. A line "says TEXT" expects TEXT in the output of the command before it. CASE/since is the
// first version of Terraform that does the same as tfdeps, which is set to that version; the case is skipped for an older
// Terraform.
func TestCommands_SameAsTerraform(t *testing.T) {
	t.Parallel()
	compareCommands(t, withTerraform(t), "oracle_commands", 200)
}

func compareCommands(t *testing.T, p *pair, folder string, least int) {
	t.Helper()
	cases := readCases(t, "testdata/"+folder+"/*.txtar", inGroups)
	maps.Copy(cases, readCases(t, "testdata/oracle_both/*.txtar", func(archive, name string) (string, string) { return inGroups("both_"+archive, name) }))
	eachCase(t, cases, nil, least, func(t *testing.T, files []txtar.File, _ harness.Exemption) {
		files, lines, since := splitCase(files)
		o := p.begin(t, files, harness.Exemption{})
		alone := p.programs[1] == "" || since != "" && harness.PeerOlderThan(t, since) // tfdeps is compared with the expectations of the case
		if alone && since != "" {
			o.env = append(slices.Clip(o.env), "TFDEPS_TERRAFORM_VERSION="+since+".0")
		}
		o.compareCommands(lines, alone)
	})
}

// splitCase separates the files of the configuration from the special files of a case.
func splitCase(all []txtar.File) (files []txtar.File, lines []string, since string) {
	for _, f := range all {
		switch f.Name {
		case "run":
			lines = strings.Split(strings.ReplaceAll(string(f.Data), "$PLATFORM", getproviders.CurrentPlatform().String()), "\n")
		case "since":
			since = strings.TrimSpace(string(f.Data))
		default:
			files = append(files, txtar.File{Name: "1/" + f.Name, Data: f.Data})
		}
	}
	return files, lines, since
}

func (o *run) compareCommands(lines []string, alone bool) {
	o.t.Helper()
	var left [2]string
	for i, dir := range o.dirs {
		if i == 1 && alone {
			continue
		}
		o.prepare(i, o.steps["1"])
		said := ""
		for _, line := range lines {
			line = strings.TrimSpace(line)
			if text, ok := strings.CutPrefix(line, "says "); !ok {
				said = o.runLine(i, line)
			} else if !strings.Contains(said, text) {
				o.t.Errorf("%s doesn't say %q, but\n%s", filepath.Base(o.programs[i]), text, said)
			}
		}
		for _, name := range []string{".terraform.lock.hcl", ".terraform/modules/modules.json", ".terraform/environment"} {
			left[i] += "-- " + name + " --\n" + contentIfAny(o.t, filepath.Join(dir, filepath.FromSlash(name))) + "\n"
		}
	}
	commands := slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		line = strings.TrimSpace(line)
		return line == "" || strings.HasPrefix(line, "says ")
	})
	if fails := strings.HasPrefix(strings.TrimSpace(commands[len(commands)-1]), "! "); !fails && !alone {
		o.same("what is left", left[0], left[1], false)
	}
}

// contentIfAny returns the content of a file, or "" if it doesn't exist.
func contentIfAny(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	return string(content)
}

// runLine runs a line with a program, and returns its output. Words are separated by spaces, and have no
// quotes.
func (o *run) runLine(program int, line string) (said string) {
	o.t.Helper()
	if own, ok := strings.CutPrefix(line, "ours "); ok {
		if line = own; program != 0 {
			return ""
		}
	}
	args, fails := strings.CutPrefix(line, "! ")
	words := strings.Fields(args)
	switch {
	case len(words) == 0:
		return ""
	case slices.Contains([]string{"rm", "mv", "cp"}, words[0]):
		o.changeFiles(o.dirs[program], words)
		return ""
	}
	env := o.env
	for len(words) > 1 && strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "-") {
		env, words = append(slices.Clone(env), words[0]), words[1:]
	}
	end := harness.Exec(o.t, o.dirs[program], env, append(append([]string{o.programs[program]}, words...), "-no-color")...)
	if (end.Code != 0) != fails {
		o.t.Errorf("%s %s: %s", filepath.Base(o.programs[program]), line, end)
	}
	return end.Said()
}

// changeFiles removes, renames or copies a file.
func (o *run) changeFiles(dir string, words []string) {
	o.t.Helper()
	at := func(i int) string { return filepath.Join(dir, filepath.FromSlash(words[i])) }
	switch words[0] {
	case "rm":
		must.Succeed(o.t, os.RemoveAll(at(1)))
	case "mv":
		must.Succeed(o.t, os.Rename(at(1), at(2)))
	case "cp":
		lay(o.t, dir, words[2], harness.ReadText(o.t, at(1)))
	}
}
