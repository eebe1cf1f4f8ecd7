package oracle

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestStreams_SameAsTerraform runs commands of both programs on the cases of
// testdata/oracle_streams, CASE/FILE, into pipes, and compares both streams and the
// exit code byte for byte, after taking out colours, the directory, and the lines
// that are our own. The lines of CASE/commands are arguments; "env NAME=VALUE" is
// for those that follow, "sh cp FROM TO" copies a file, and "sh mkdir NAMES" makes directories. CASE/since is the
// first version of Terraform that says the same. Where the explanations
// in boxes are our own, an entry of ownWords says so; summaries, places, source lines, frames
// and phrases that programs look for are compared all the same.
func TestStreams_SameAsTerraform(t *testing.T) {
	t.Parallel()
	compareStreams(t, withTerraform(t), streamDifferences)
}

// compareStreams leaves out the cases of some names.
func compareStreams(t *testing.T, p *pair, differences map[string]streamDifference, leftOut ...string) {
	t.Helper()
	phrases := goldenPhrases(t)
	all := map[string]bool{}
	for group, least := range map[string]int{"failures": 30, "successes": 10} {
		cases := readCases(t, "testdata/oracle_streams/"+group+".txtar", several)
		maps.DeleteFunc(cases, func(name string, _ []txtar.File) bool { return slices.Contains(leftOut, name) })
		whole := 0
		for name := range cases {
			if all[name] = true; differences[name].Reason == "" {
				whole++
			}
		}
		if whole < least {
			t.Errorf("%d %s are compared byte for byte, want %d at least", whole, group, least)
		}
		for name, files := range cases {
			t.Run(group+"/"+name, func(t *testing.T) {
				t.Parallel()
				harness.PeerCase(t)
				c := streamCase{name: group + "/" + name, run: p.begin(t, nil, harness.Exemption{}), phrases: phrases, differs: differences[name], fails: group == "failures"}
				c.all(byName(files))
			})
		}
	}
	for name := range differences {
		if !all[name] {
			t.Errorf("a difference of %q, which is no case", name)
		}
	}
}

// streamCase is the state of a case.
type streamCase struct {
	name string
	*run
	phrases []string
	differs streamDifference
	fails   bool // the last command fails
}

func (c *streamCase) all(files map[string]string) {
	if since := strings.TrimSpace(files["since"]); since != "" && c.isOlder(since) {
		c.t.Skip("Terraform says that since version " + since)
	}
	commands := strings.Split(strings.TrimSpace(files["commands"]), "\n")
	delete(files, "since")
	delete(files, "commands")
	c.prepare(0, files)
	c.prepare(1, files)
	for i, command := range commands {
		word, rest, _ := strings.Cut(command, " ")
		switch word {
		case "env":
			c.env = append(c.env, rest)
		case "sh":
			names := strings.Fields(rest)
			for _, dir := range c.dirs {
				if names[0] == "mkdir" {
					for _, name := range names[1:] {
						must.Succeed(c.t, os.Mkdir(filepath.Join(dir, name), 0o755))
					}
					continue
				}
				c.changeFiles(dir, names)
			}
		default:
			c.compare(command, fmt.Sprintf("%s/%d", c.name, i+1), c.fails && i == len(commands)-1)
		}
	}
	if c.allowed.Reason = c.differs.Reason; c.recorded == nil {
		c.isNeeded()
	}
}

// say runs a program, and returns its output without text that may differ.
func (c *streamCase) say(program int, command string) harness.Ended {
	end := c.in(program, program, strings.Fields(command)...)
	for _, text := range []*string{&end.Out, &end.Err} {
		*text = strings.ReplaceAll(escapes.ReplaceAllString(*text, ""), c.dirs[program], "DIR")
	}
	if program == 0 {
		for _, line := range ownLines {
			end.Out = line.ReplaceAllString(end.Out, "")
		}
	}
	end.Err = withoutRepetition(end.Err)
	if c.recorded != nil {
		end.Out, end.Err = c.constant(end.Out), c.constant(end.Err)
	}
	return end
}

// isOlder reports whether a case is for newer versions.
func (c *streamCase) isOlder(since string) bool {
	if c.recorded != nil {
		return c.recorded.isOlder(since)
	}
	return harness.PeerOlderThan(c.t, since)
}

// compare runs a command with both programs, and compares the output; name is that of recordings.
func (c *streamCase) compare(command, name string, fails bool) {
	c.t.Helper()
	var ours, theirs harness.Ended
	switch r := c.recorded; {
	case r == nil:
		ours, theirs = c.say(0, command), c.say(1, command)
	case r.making:
		end := c.say(1, command)
		if c.differs.Out {
			end.Out = "" // not compared, because it may be pages of help
		}
		r.keep(name, end)
		return
	default:
		ours, theirs = c.say(0, command), r.recall(c.t, name)
	}
	if (theirs.Code != 0) != fails || (ours.Code != 0) != fails && !c.differs.Exit {
		c.t.Errorf("%s: exit codes %d and %d of Terraform, want a failure: %t", command, ours.Code, theirs.Code, fails)
	}
	for name, said := range map[string]struct {
		ours, theirs string
		free         bool
	}{"stdout": {ours.Out, theirs.Out, c.differs.Out}, "stderr": {ours.Err, theirs.Err, c.differs.Err}} {
		inEssence := c.differs.Words && withoutDetails(said.ours) == withoutDetails(said.theirs) ||
			c.recorded != nil && harness.OneLine(strings.ReplaceAll(said.ours, "│", "")) == harness.OneLine(strings.ReplaceAll(said.theirs, "│", ""))
		c.same(command+": "+name, said.ours, said.theirs, said.free || inEssence)
	}
	for _, phrase := range c.phrases {
		if isSaid(phrase, theirs.Said()) && !isSaid(phrase, ours.Said()) {
			c.t.Errorf("%s: ours lacks %q\n--- ours\n%s\n--- theirs\n%s", command, phrase, ours, theirs)
		}
	}
}

// escapes are colours.
var escapes = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// ownLines match lines that only tfdeps has, as docs/differences.md says: the
// summary of init, the source of a package, and its own version.
var ownLines = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^\n(Checked )?\d+ providers?(, \d+ modules?)? .*(ready )?in [0-9.]+m?s.*\n`),
	regexp.MustCompile(`(?m)^  (from|note:) .*\n`),
	regexp.MustCompile(`(?m)^\+ tfdeps .*\n`),
}

// withoutRepetition removes repeated boxes (difference 22).
func withoutRepetition(text string) string {
	seen := map[string]bool{}
	return regexp.MustCompile(`(?s)╷\n.*?╵\n`).ReplaceAllStringFunc(text, func(box string) string {
		if seen[box] {
			return ""
		}
		seen[box] = true
		return box
	})
}

// headings matches the compared lines of boxes whose explanations are our own: frames, severity
// and summary, the place, and the lines of the source.
var headings = regexp.MustCompile(`(?m)^(╷|╵|(│ )?(Error|Warning): .*|(│ )?  on .* line \d+.*:|(│ )? *\d+: .*)$`)

func withoutDetails(text string) string { return strings.Join(headings.FindAllString(text, -1), "\n") }

// isSaid reports whether a phrase is in a text, ignoring line breaks.
func isSaid(phrase, text string) bool {
	return strings.Contains(harness.OneLine(strings.ReplaceAll(text, "│", "")), phrase)
}

// goldenPhrases reads testdata/phrases.txt: phrases that programs look for.
func goldenPhrases(t *testing.T) (phrases []string) {
	t.Helper()
	for line := range strings.Lines(harness.ReadText(t, harness.Path(t, "testdata/phrases.txt"))) {
		if phrase, program, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && program != "" {
			phrases = append(phrases, phrase)
		} else if !strings.HasPrefix(line, "#") {
			t.Errorf("testdata/phrases.txt: %q names no program", line)
		}
	}
	return phrases
}

// streamDifference is what may differ in a case.
type streamDifference struct {
	Words          bool // explanations below summaries
	Out, Err, Exit bool
	Reason         string // "difference N: ...", as in an Exemption
}

// inOwnWords are the cases in which only explanations differ.
const inOwnWords = `
	address_invalid alias_twice argument_too_many backend_changed backend_config_missing backend_config_without_block backend_unknown
	backend_unknown_reconfigure backend_values_missing built_in_unknown built_in_version constraint_invalid from_module_filled import_of_data
	import_without_id lock_hash_mismatch lock_no_such_provider locked_version_refused module_local_with_version module_not_installed_get_false
	module_not_installed_providers no_registry no_such_provider no_such_provider_implied no_such_provider_no_color no_such_provider_of_a_host
	no_such_version platform_missing registry_host_without_modules registry_module_bad_version registry_module_missing
	registry_module_missing_get removed_and_there removed_of_index required_version required_version_of_a_module search_locations
	search_locations_no_color similar_warnings workspace_invalid`

// ownWords is the exemption of such a case.
var ownWords = streamDifference{Words: true, Reason: "difference 11: the explanation is our own"}

// streamDifferences are all exemptions.
var streamDifferences = func(all map[string]streamDifference) map[string]streamDifference {
	for name := range strings.FieldsSeq(inOwnWords) {
		all[name] = ownWords
	}
	return all
}(map[string]streamDifference{
	"alias_invalid":                       {Err: true, Reason: "difference 22: an alias has its line"},
	"backend_google_type":                 {Out: true, Err: true, Reason: "difference 33: wrong values are reported at the block's line"},
	"backend_not_initialized":             {Out: true, Err: true, Exit: true, Reason: "difference 32: what the configuration requires is shown, with a warning"},
	"backend_values_not_complete":         {Out: true, Err: true, Reason: "difference 33: wrong values are reported at the block's line"},
	"backend_values_warned":               {Out: true, Err: true, Reason: "difference 33: wrong values are reported at the block's line"},
	"cloud_and_backend":                   {Err: true, Reason: "difference 22: what only follows is left out"},
	"lock_file_broken":                    {Out: true, Err: true, Reason: "difference 22: errors have file and line"},
	"lock_twice":                          {Out: true, Err: true, Reason: "difference 22: errors of the lock file have its line"},
	"lock_wrong_hash":                     {Out: true, Err: true, Reason: "difference 22: errors of the lock file have its line"},
	"lock_wrong_version":                  {Out: true, Err: true, Reason: "difference 22: errors of the lock file have its line, and what only follows is left out"},
	"mirror_no_such_provider":             {Err: true, Reason: "difference 40: there is no second error about the indexes"},
	"module_missing":                      {Out: true, Err: true, Reason: "difference 22: once, and with file and line"},
	"module_missing_get":                  {Out: true, Err: true, Reason: "difference 22: once, and with file and line"},
	"modules_json_broken":                 {Out: true, Err: true, Reason: "difference 22: the error names the file"},
	"modules_json_broken_get":             {Err: true, Reason: "difference 22: the error names the file"},
	"modules_json_broken_providers":       {Err: true, Reason: "difference 22: the error names the file"},
	"providers_lock":                      {Out: true, Reason: "difference 39: a package that was read before is recalled"},
	"readonly_not_locked":                 {Words: true, Out: true, Reason: "difference 7: what -lockfile=readonly forbids is found before anything is installed"},
	"readonly_upgrade":                    {Words: true, Out: true, Reason: "difference 7: what -lockfile=readonly forbids is found before anything is installed"},
	"required_version_and_module_missing": {Out: true, Err: true, Reason: "difference 22: it is the only error"},
	"state_broken":                        {Err: true, Reason: "difference 22: the error names the file"},
	"test_directory_missing":              {Out: true, Reason: "difference 22: repeated warnings are told once"},
})

func TestStreamDifferences_NameDifferences(t *testing.T) {
	for _, differences := range []map[string]streamDifference{streamDifferences, tofuStreamDifferences()} {
		all := map[string]harness.Exemption{}
		for name, differs := range differences {
			all[name] = harness.Exemption{Reason: differs.Reason}
		}
		harness.CheckExemptions(t, all)
	}
}
