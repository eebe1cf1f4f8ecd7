package command

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/internal/must"
)

// Rules for the texts of testdata/failures.txtar, each with exceptions for the real programs' own texts, which stay unchanged.
var (
	problemStart = regexp.MustCompile(`(?m)^(Error|Warning): `)

	// Lines of the real programs, and lines that name a failed provider: each is a separate error there.
	realLines = regexp.MustCompile(`^(Initializing |- Finding |Terraform encountered problems|with the configuration, described|The Terraform configuration must be valid|` +
		`Could not retrieve the list of available versions for these providers:|Error while installing these providers:|These packages were not sent:|` +
		`All modules should specify|    terraform providers$|\(code: |  - |  on .* line \d+|[ \d]{4}: )`)

	// What one sentence may name twice: the real programs do, or git, or the package flag.
	realRepeats = regexp.MustCompile(`for provider \S+: (could not query provider (registry|mirror)|(locked )?provider|no release of provider|provider registry)|` +
		`installing \S+ v\S+: ((could not query provider )?registry|host|the current package)|Failed to download \S+: could not query|` +
		`is not a provider registry: could not query|^- \S+: provider \S+ v|Could not download the module|fatal: |for flag -|in provider source`)

	// Names of the program's own parts, of libraries and of their steps.
	internalNames = regexp.MustCompile(`operation error|StatusCode|api error|INTERNAL_ERROR|stream ID|\bEOF\b|<nil>|%!|\*\w+\.\w+|client option|goroutine|github\.com/tfdeps|\b[A-Z]\w+Error\b|` +
		`\b(providercache|getproviders|depsfile|cliconfig|workdir|initcmd|fetch|staging|smithy)[.:]`)
	// The real programs say so, and programs may match on it: an explanation follows.
	realInternals = strings.NewReplacer("object expected closing RBRACE got: EOF", "", "stream error: stream ID 5; INTERNAL_ERROR; received from peer", "")

	named = regexp.MustCompile(`\w+://[^\s"',;]+|\w+::[^\s"',;]+|"[^"\s]{4,}"|(?:\.{0,2}/)?(?:[\w.-]+/)+[\w.-]+`)
)

// eachFailure calls a function with each problem of the file, without its code.
func eachFailure(t *testing.T, check func(name, problem string)) {
	t.Helper()
	content := must.Get(os.ReadFile(filepath.Join("testdata", "failures.txtar")))(t)
	all := txtar.Parse(content).Files
	if len(all) < 250 {
		t.Errorf("there are %d failures", len(all))
	}
	for _, file := range all {
		text := string(file.Data)
		starts := problemStart.FindAllStringIndex(text, -1)
		for i, start := range starts {
			end := len(text)
			if i+1 < len(starts) {
				end = starts[i+1][0]
			}
			check(file.Name, text[start[0]:end])
		}
	}
}

// A problem has at most six lines more than the real program's summary, place and paragraph.
func TestFailures_AreShort(t *testing.T) {
	t.Parallel()
	eachFailure(t, func(name, problem string) {
		if n := ownLines(problem); n > 6 {
			t.Errorf("%s: %d lines are tfdeps' own:\n%s", name, n, problem)
		}
	})
	const long = "Error: A\n\n  on main.tf line 1:\n   1: x\n\nThe first.\n\nhint: "
	must.Equal(t, ownLines(long+strings.Repeat("a", 60)+" "+strings.Repeat("b", 70)+"\n  - c\n(code: d)\n"), 2)
	must.Equal(t, ownLines(long+strings.Repeat("a\n", 7)), 7)
}

// ownLines is how many lines of a box are neither the real program's nor the first paragraph.
func ownLines(problem string) (n int) {
	first := true
	for _, line := range strings.Split(problem, "\n")[1:] {
		switch {
		case strings.TrimSpace(line) == "" || realLines.MatchString(line):
		case first:
			first = false
		default:
			n += strings.Count(strings.TrimRight(terminal.Wrap(line, 75), "\n"), "\n") + 1
		}
	}
	return n
}

// No sentence names a file, a URL or a value twice, and none begins as the one before its colon.
func TestFailures_SayNothingTwice(t *testing.T) {
	t.Parallel()
	eachFailure(t, func(name, problem string) {
		for line := range strings.Lines(problem) {
			if twice := repeated(line); twice != "" && !realRepeats.MatchString(line) {
				t.Errorf("%s: %q has %q twice", name, line, twice)
			}
		}
	})
	for line, want := range map[string]string{
		"reading /a/b: /a/b: no such file":                  "/a/b",
		`TF_X is "latest": invalid version "latest": x`:     "latest",
		"could not install: could not install the package":  "could not install",
		"downloading https://a.b/c: GET \"https://a.b/c\":": "https://a.b/c",
		"reading /a/b: no such file":                        "",
	} {
		must.Equal(t, repeated(line), want, line)
	}
}

// repeated returns a name, or the words before a colon, that a line has twice.
func repeated(line string) string {
	var seen []string
	for _, name := range named.FindAllString(line, -1) {
		name = strings.Trim(name, "\".:,)")
		if slices.Contains(seen, name) {
			return name
		}
		seen = append(seen, name)
	}
	parts := strings.Split(strings.TrimSpace(line), ": ")
	for i, part := range parts {
		for _, later := range parts[i+1:] {
			if len(part) > 8 && strings.HasPrefix(strings.ToLower(later), strings.ToLower(part)) {
				return part
			}
		}
	}
	return ""
}

// No text has a name from the program's source, or of a library's steps.
func TestFailures_NameNothingInternal(t *testing.T) {
	t.Parallel()
	eachFailure(t, func(name, problem string) {
		must.Equal(t, internalNames.FindString(realInternals.Replace(problem)), "", name, problem)
	})
}
