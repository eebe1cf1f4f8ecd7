package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestReadme_ShowsARunnableExample keeps the library example of the README in
// step with the one that is compiled and run.
func TestReadme_ShowsARunnableExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("providercache/example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(readme), "```go\n")
	shown, _, _ := strings.Cut(after, "```\n")
	if shown == "" {
		t.Fatal("README.md shows no Go code")
	}
	if missing := missingLine(shown, string(example)); missing != "" {
		t.Errorf("the example of README.md has a line that providercache/example_test.go hasn't, or not there: %q", missing)
	}
}

func TestMissingLine_CanFail(t *testing.T) {
	for _, c := range []struct{ shown, run, want string }{
		{"a\n\nb\n", "x\n\t// a\n\tb\n", ""},
		{"a\nc\n", "a\nb\n", "c"},
		{"b\na\n", "a\nb\n", "a"},
	} {
		if got := missingLine(c.shown, c.run); got != c.want {
			t.Errorf("missingLine(%q, %q) = %q, want %q", c.shown, c.run, got, c.want)
		}
	}
}

// missingLine returns the first line of shown that doesn't come in run, in the
// same order, be it as code or in a comment.
func missingLine(shown, run string) string {
	lines := strings.Split(run, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//"))
	}
	for line := range strings.Lines(shown) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		at := slices.Index(lines, line)
		if at < 0 {
			return line
		}
		lines = lines[at+1:]
	}
	return ""
}
