package command

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// hasWord finds an option or a variable as a whole word.
func hasWord(text, name string) bool {
	return regexp.MustCompile(`(^|[\s,"(|])` + regexp.QuoteMeta(name) + `($|[\s,.=\[)"])`).MatchString(text)
}

// optionsIn returns the options that a help text lists: at the beginning of a line,
// after another option, and in notes.
func optionsIn(help string) (names []string) {
	_, options, _ := strings.Cut(help, "\nOptions:\n")
	for line := range strings.Lines(options) {
		if match := regexp.MustCompile(`^  -([a-z-]+)`).FindStringSubmatch(line); match != nil {
			names = append(names, match[1])
		}
	}
	return names
}

// TestCommands_HelpAndFlagsAgree also finds names that weren't put in, and lines that are longer than a terminal's.
func TestCommands_HelpAndFlagsAgree(t *testing.T) {
	wide, name := regexp.MustCompile(`(?m)^.{81,}$`), regexp.MustCompile(`\$[A-Z]\w*`)
	must.Equal(t, wide.FindString(usage), "")
	for _, c := range commands() {
		must.Equal(t, c.Run != nil && c.Synopsis != "" && c.Usage != "", true, c.Name)
		help := c.Help(defaultNames(), "", true)
		must.Equal(t, wide.FindString(help), "", c.Name)
		for _, found := range name.FindAllString(help+fmt.Sprint(optionsOf(c.Name)), -1) {
			must.Equal(t, found == "$GITHUB_OUTPUT" || found == "$PROFILE", true, c.Name, found)
		}
		defined := map[string]bool{}
		for _, row := range c.Flags() {
			defined[row.Name] = defined[row.Name] || row.Value != nil || row.Name == "no-color"
			if !hasWord(help, "-"+row.Name) || row.Alias != "" && !hasWord(help, "-"+row.Alias) {
				t.Errorf("the help of %s doesn't name -%s", c.Name, row.Name)
			}
			must.Equal(t, row.Help == "", row.Note != "", c.Name, row.Name)
			must.Equal(t, strings.Contains(row.Help+" ", ". ") || strings.HasSuffix(row.More, ":"), false, c.Name, row.Name, "one sentence, without its full stop")
		}
		listed := optionsIn(help)
		if len(c.Flags()) > 0 && len(listed) == 0 {
			t.Errorf("the help of %s lists no options", c.Name)
		}
		for _, name := range listed {
			if !defined[name] {
				t.Errorf("the help of %s has -%s, which the command doesn't take", c.Name, name)
			}
		}
	}
}

// The short help fits two screens. All options and examples are in the help with -help=all.
func TestCommands_ShortHelpOfInit(t *testing.T) {
	for _, c := range commands() {
		short := c.Help(defaultNames(), "", false)
		if c.Name != "init" {
			must.Equal(t, short, c.Help(defaultNames(), "", true), c.Name)
			continue
		}
		if n := strings.Count(short, "\n") + 1; n > 48 {
			t.Errorf("the help of init has %d lines, and may have 48:\n%s", n, short)
		}
		must.EqualSlices(t, slices.Sorted(slices.Values(optionsIn(short))), slices.Sorted(slices.Values(c.Daily)))
		must.Contain(t, short, "tfdeps init -help=all")
	}
	root := t.TempDir()
	must.Succeed(t, os.Mkdir(filepath.Join(root, "work"), 0o700))
	for _, tt := range []struct{ args, has, hasNot string }{
		{"init -help", "-upgrade", "-mirror-fallback"},
		{"help init", "-upgrade", "-mirror-fallback"},
		{"init -help=all", "\nBackend and state:\n", "-help=all"},
		{"help init -help=all", "-mirror-fallback", "-help=all"},
		{"get -help=all", "-update", "-help=all"},
		{"help help", "Commands:", "has no command"},
		{"help policy", "\n    check    ", "Did you mean"},
	} {
		_, stdout, _ := runInProcess(t, root, "localhost", tt.args)
		must.Contain(t, stdout, tt.has, tt.args)
		must.NotContain(t, stdout, tt.hasNot, tt.args)
	}
}

// TestCommands_HaveTerraformsOptionsOrAVariable keeps variables complete: each option of init is
// one of Terraform's or OpenTofu's, or has a variable for callers that know only those.
func TestCommands_HaveTerraformsOptionsOrAVariable(t *testing.T) {
	known := strings.Fields("backend backend-config compact-warnings create-default-workspace enable-pluggable-state-storage-experiment force-copy from-module get ignore-remote-version input json lock " +
		"lock-timeout lockfile migrate-state no-color plugin-dir reconfigure target test-directory upgrade var var-file " +
		"concise consolidate-errors consolidate-warnings deprecation json-into " +
		"policy " + // TFDEPS_POLICY adds to it
		"recursive dir dirs-from changed-since also same-versions") // callers that only know Terraform's options work in one directory
	for _, c := range commands() {
		if c.Name != "init" {
			continue
		}
		for _, row := range c.Flags() {
			if row.Variable == "" && !slices.Contains(known, row.Name) {
				t.Errorf("init has -%s, which neither product has, without a variable", row.Name)
			}
		}
	}
}

// TestUsage_NamesCommands compares the list of commands with the table. The subcommands of
// cache are in its own help.
func TestUsage_NamesCommands(t *testing.T) {
	for _, c := range commands() {
		if !strings.HasPrefix(c.Name, "cache ") && !strings.Contains(usage, "\n  "+c.Name+" ") && !strings.Contains(usage, "\n  "+c.Name+"\n") {
			t.Errorf("the help doesn't list %s", c.Name)
		}
	}
}

func TestUsage_NamesVariables(t *testing.T) {
	for _, c := range commands() {
		for _, row := range c.Flags() {
			if row.Variable == "" {
				continue
			}
			must.Equal(t, row.Variable, "TFDEPS_"+strings.ToUpper(strings.ReplaceAll(row.Name, "-", "_")), row.Name)
			if row.Meaning == "" || !hasWord(usage, row.Variable) {
				t.Errorf("%s has no meaning, or isn't in the help", row.Variable)
			}
		}
	}
	// Package sources describes variables that belong to no option.
	must.Succeed(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if entry.IsDir() && entry.Name() == "e2etest" {
			return fs.SkipDir
		}
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, variable := range regexp.MustCompile(`TFDEPS_[A-Z_]*[A-Z]`).FindAllString(string(content), -1) {
			if variable != passesVariable && (!hasWord(usage, variable) || !slices.Contains(append(ownVariables(), optionVariables()...), variable)) {
				t.Errorf("%s: %s is not in the help, or unknownVariables warns of it", path, variable)
			}
		}
		return err
	}))
}

// A session runs every command in a pipe. When it succeeds, stderr is empty.
func TestCommands_AreInTheQuietSession(t *testing.T) {
	t.Parallel()
	session := must.Get(os.ReadFile("../testdata/script/quiet.txtar"))(t)
	for _, name := range names() {
		if name == "cache" || name == "serve" { // the first only has commands below it, the second has its log on stderr
			continue
		}
		if !regexp.MustCompile(`(?m)^exec tfdeps ` + name + `( [^a-z\n].*| [a-z]+)?\n! stderr \.$`).Match(session) {
			t.Errorf("no run of %q is followed by \"! stderr .\"", name)
		}
	}
}
