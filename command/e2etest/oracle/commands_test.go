package oracle

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
)

// TestCommands_SameAsTerraform runs the same lines with both programs, and compares
// which of them fail, and, unless that is the last one, lock files, modules.json and
// the selected workspace.
//
// Each archive in testdata/oracle_commands holds several cases, CASE/FILE. The lines are in
// CASE/run: "! " in front says that the program has to fail, NAME=VALUE words before the command
// are its environment, "ours " that it is for tfdeps alone, "rm", "mv" and "cp" lines change files
// instead; a line "says TEXT" wants TEXT in what the command before it said. CASE/since is the
// first version of Terraform that does the same as tfdeps; an older one leaves the case out.
func TestCommands_SameAsTerraform(t *testing.T) {
	t.Parallel()
	peer := harness.LookTerraform(t)
	registry := newOracleRegistry(t, nil)
	programs := [2]string{harness.Tfdeps(t), peer}
	cases := readCases(t, "testdata/oracle_commands/*.txtar", true)
	if len(cases) < 35 {
		t.Errorf("there are %d cases, want 35 at least", len(cases))
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			harness.PeerCase(t)
			files, lines, since := splitCase(cases[name])
			o := newRegistryRun(t, files, registry, programs)
			if since != "" && harness.PeerOlderThan(t, since) {
				o.programs[1] = "" // what tfdeps does is compared with what the case says
			}
			o.compareCommands(lines)
		})
	}
}

// splitCase takes what isn't a file of the configuration out of a case.
func splitCase(archive *txtar.Archive) (files *txtar.Archive, lines []string, since string) {
	files = new(txtar.Archive)
	for _, f := range archive.Files {
		switch f.Name {
		case "run":
			lines = strings.Split(strings.ReplaceAll(string(f.Data), "$PLATFORM", getproviders.CurrentPlatform().String()), "\n")
		case "since":
			since = strings.TrimSpace(string(f.Data))
		default:
			files.Files = append(files.Files, txtar.File{Name: "1/" + f.Name, Data: f.Data})
		}
	}
	return files, lines, since
}

func (o *oracleRun) compareCommands(lines []string) {
	o.t.Helper()
	var left [2]string
	for i, program := range o.programs {
		if program == "" {
			continue
		}
		o.prepare(o.dirs[i], o.steps["1"])
		said := ""
		for _, line := range lines {
			line = strings.TrimSpace(line)
			if text, ok := strings.CutPrefix(line, "says "); !ok {
				said = o.runLine(program, o.dirs[i], line)
			} else if !strings.Contains(said, text) {
				o.t.Errorf("%s doesn't say %q, but\n%s", filepath.Base(program), text, said)
			}
		}
		for _, name := range []string{".terraform.lock.hcl", ".terraform/modules/modules.json", ".terraform/environment"} {
			content, err := os.ReadFile(filepath.Join(o.dirs[i], filepath.FromSlash(name)))
			if err != nil && !os.IsNotExist(err) {
				o.t.Error(err)
			}
			left[i] += "-- " + name + " --\n" + string(content) + "\n"
		}
	}
	commands := slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		line = strings.TrimSpace(line)
		return line == "" || strings.HasPrefix(line, "says ")
	})
	if fails := strings.HasPrefix(strings.TrimSpace(commands[len(commands)-1]), "! "); !fails && o.programs[1] != "" && left[0] != left[1] {
		o.t.Errorf("what is left differs\n--- ours\n%s\n--- theirs\n%s", left[0], left[1])
	}
}

// runLine runs a line in a directory, and returns what the program said. Words are separated by spaces, and have no
// quotes.
func (o *oracleRun) runLine(program, dir, line string) (said string) {
	o.t.Helper()
	if own, ok := strings.CutPrefix(line, "ours "); ok {
		if line = own; program != o.programs[0] {
			return ""
		}
	}
	args, fails := strings.CutPrefix(line, "! ")
	words := strings.Fields(args)
	switch {
	case len(words) == 0:
		return ""
	case slices.Contains([]string{"rm", "mv", "cp"}, words[0]):
		o.changeFiles(dir, words)
		return ""
	}
	env := o.env
	for len(words) > 1 && strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "-") {
		env, words = append(slices.Clone(env), words[0]), words[1:]
	}
	cmd := exec.CommandContext(o.t.Context(), program, append(words, "-no-color")...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	if (err != nil) != fails {
		o.t.Errorf("%s %s: %v\n%s", filepath.Base(program), line, err, out)
	}
	return string(out)
}

// changeFiles removes, renames or copies a file.
func (o *oracleRun) changeFiles(dir string, words []string) {
	o.t.Helper()
	at := func(i int) string { return filepath.Join(dir, filepath.FromSlash(words[i])) }
	switch words[0] {
	case "rm":
		mustDo(o.t, os.RemoveAll(at(1)))
	case "mv":
		mustDo(o.t, os.Rename(at(1), at(2)))
	case "cp":
		content, err := os.ReadFile(at(1))
		mustDo(o.t, err)
		mustDo(o.t, os.MkdirAll(filepath.Dir(at(2)), 0o755))
		mustDo(o.t, os.WriteFile(at(2), content, 0o644))
	}
}
