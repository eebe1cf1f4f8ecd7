package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEngine_ShowsARunnableExample keeps the library example of docs/engine.md in
// step with the one that is compiled and run.
func TestEngine_ShowsARunnableExample(t *testing.T) {
	page, err := os.ReadFile("docs/engine.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("providercache/internal/installtest/registry.go") // what the examples begin with
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("providercache/example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```go\n")
	shown, _, _ := strings.Cut(after, "```\n")
	if shown == "" {
		t.Fatal("docs/engine.md shows no Go code")
	}
	if missing := missingLine(shown, string(source)+string(example)); missing != "" {
		t.Errorf("the example of docs/engine.md has a line that the examples haven't, or not there: %q", missing)
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

// TestDocs_NameTestsThatExist keeps the pages that say which test shows what in
// step with the tests.
func TestDocs_NameTestsThatExist(t *testing.T) {
	var sources strings.Builder
	for _, file := range readTree(t) {
		if file.test {
			content, err := os.ReadFile(filepath.Join(file.dir, file.name))
			if err != nil {
				t.Fatal(err)
			}
			sources.Write(content)
		}
	}
	release, err := filepath.Glob(".release/*_test.go")
	if err != nil || len(release) == 0 {
		t.Fatalf("found no test in .release: %v", err)
	}
	for _, name := range release {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sources.Write(content)
	}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("found no page in docs: %v", err)
	}
	named := 0
	for _, page := range append(pages, "README.md", "CONTRIBUTING.md", "SECURITY.md") {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range testNames.FindAllString(string(content), -1) {
			named++
			if !strings.Contains(sources.String(), "func "+name+"(") {
				t.Errorf("%s names %s, which is not a test", page, name)
			}
		}
		for _, session := range sessionNames.FindAllString(string(content), -1) {
			named++
			if _, err := os.Stat(filepath.Join("testdata", "script", session)); err != nil {
				t.Errorf("%s names %s, which is not a session", page, session)
			}
		}
	}
	if named == 0 {
		t.Error("no page names any test: this test looks for the wrong words")
	}
}

// TestContributing_NamesFilesThatExist keeps the paths through the code in step with the
// code: each file is there, and comes once.
func TestContributing_NamesFilesThatExist(t *testing.T) {
	content, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(content), "\n## Follow one provider\n")
	section, _, _ := strings.Cut(after, "\n## ")
	_, paths, _ := strings.Cut(section, "\n1. ")
	lists := strings.Split(paths, "\n1. ")
	if len(lists) != 2 {
		t.Fatalf("CONTRIBUTING.md follows %d paths, want those of init and cache gc", len(lists))
	}
	for i, most := range []int{30, 16} {
		files := listedFiles.FindAllStringSubmatch("\n1. "+lists[i], -1)
		seen := map[string]bool{}
		for _, file := range files {
			if _, err := os.Stat(filepath.FromSlash(file[1])); err != nil || seen[file[1]] {
				t.Errorf("path %d names %s, which is not there or comes twice", i+1, file[1])
			}
			seen[file[1]] = true
		}
		if len(files) < 10 || len(files) > most {
			t.Errorf("path %d has %d files, want 10 to %d", i+1, len(files), most)
		}
	}
}

var (
	listedFiles = regexp.MustCompile("\\n\\d+\\. `([^`]+)`")

	testNames    = regexp.MustCompile(`\bTest[A-Z]\w+`)
	sessionNames = regexp.MustCompile(`\b[a-z_]+\.txtar\b`)
)

// TestMutations_AreEachAtOnePlace keeps the list of mutations in step with the code: a line that
// was changed would else no longer be tried.
func TestMutations_AreEachAtOnePlace(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), "go", "run", "./testdata/mutate", "-check").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
