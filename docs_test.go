package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// pages are the documents for people: those at the top and those in docs.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("found no page %s: %v", pattern, err)
		}
		for _, name := range names {
			content := must.Get(os.ReadFile(name))(t)
			all[filepath.ToSlash(name)] = string(content)
		}
	}
	return all
}

// TestDocs_LinksLeadSomewhere follows the links between pages, to files of the
// repository and to headings.
func TestDocs_LinksLeadSomewhere(t *testing.T) {
	all := pages(t)
	for page, text := range all {
		for _, problem := range brokenLinks(page, text, all) {
			t.Error(problem)
		}
	}
}

func TestBrokenLinks_CanFail(t *testing.T) {
	all := map[string]string{"README.md": "# A\n[x](docs/b.md) [y](docs/b.md#one--two)", "docs/b.md": "# B\n## One & two\n```sh\n# no heading\n```\n[z](../README.md#a)"}
	for page, text := range all {
		must.Len(t, brokenLinks(page, text, all), 0)
	}
	for _, text := range []string{"[x](nowhere.md)", "[x](docs/b.md#no-heading)", "[x](#b)", "![x](docs/x.svg)", "see docs/c.md"} {
		must.Len(t, brokenLinks("README.md", text, all), 1, text)
	}
}

var (
	links     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pageNames = regexp.MustCompile(`\bdocs/[a-z-]+\.md\b`)
)

// brokenLinks returns what is wrong with the links of a page.
func brokenLinks(page, text string, all map[string]string) (problems []string) {
	for _, link := range links.FindAllStringSubmatch(withoutCode(text), -1) {
		target, anchor, _ := strings.Cut(link[1], "#")
		if strings.Contains(target, "://") {
			continue
		}
		name := page
		if target != "" {
			name = filepath.ToSlash(filepath.Join(filepath.Dir(page), target))
		}
		if _, err := os.Stat(name); err != nil && all[name] == "" {
			problems = append(problems, page+" links to "+link[1]+", which isn't there")
		} else if anchor != "" && !slices.Contains(anchors(all[name]), anchor) {
			problems = append(problems, page+" links to "+link[1]+", and there is no such heading")
		}
	}
	for _, name := range pageNames.FindAllString(text, -1) {
		if all[name] == "" && !strings.Contains(text, "("+name) {
			problems = append(problems, page+" names "+name+", which isn't there")
		}
	}
	return problems
}

// withoutCode leaves out blocks of code.
func withoutCode(text string) string {
	var kept strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			inside = !inside
		} else if !inside {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// anchors are those that the headings of a page get where it is shown as HTML.
func anchors(text string) (all []string) {
	for line := range strings.Lines(withoutCode(text)) {
		title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', r >= '0' && r <= '9', r >= 'a' && r <= 'z':
				return r
			}
			return -1
		}, strings.ToLower(strings.TrimSpace(title)))
		if n := countOf(all, anchor); n > 0 {
			anchor += "-" + strconv.Itoa(n)
		}
		all = append(all, anchor)
	}
	return all
}

func countOf(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}

// TestDocs_ReadmeLeadsToEveryPage: a page that README doesn't name isn't found.
func TestDocs_ReadmeLeadsToEveryPage(t *testing.T) {
	all := pages(t)
	for page := range all {
		if strings.HasPrefix(page, "docs/") && !strings.Contains(all["README.md"], "("+page+")") {
			t.Errorf("README.md has no link to %s", page)
		}
	}
}

// TestDocs_TroubleshootingHasEveryCode compares the tables of docs/troubleshooting.md with
// the codes of errors, the steps of an installation, and the reasons of -check in the
// source. TestCodes_AreThoseOfTheEngine finds the codes in the source that aren't there.
func TestDocs_TroubleshootingHasEveryCode(t *testing.T) {
	explained, cured := map[string]bool{}, map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^(`[a-z_]+`(?:, `[a-z_]+`)*) \\| [^|\\n]+( \\| [^|\\n]+)?$").FindAllStringSubmatch(pages(t)["docs/troubleshooting.md"], -1) {
		for code := range strings.SplitSeq(strings.ReplaceAll(row[1], "`", ""), ", ") {
			if explained[code] {
				t.Errorf("%s is explained twice", code)
			}
			explained[code], cured[code] = true, row[2] != ""
		}
	}
	known := knownCodes(t)
	for code, where := range known {
		if !explained[code] {
			t.Errorf("docs/troubleshooting.md doesn't explain %s, which is in %s", code, where)
		}
	}
	source := readTree(t)
	for code := range explained {
		given := func(f goFile) bool { return !f.test && strings.Contains(f.src, strconv.Quote(code)) }
		switch where := known[code]; {
		case where == "" && !slices.ContainsFunc(source, given):
			t.Errorf("docs/troubleshooting.md explains %s, which isn't in the source", code)
		case (where == "" || strings.HasPrefix(where, "getproviders/")) && !cured[code]:
			t.Errorf("docs/troubleshooting.md has no cure for %s", code)
		}
	}
}

// codeSources are the files with codes, and what the strings there are that are codes.
var codeSources = []struct{ file, prefix, pattern string }{
	{"getproviders/errors_codes_test.go", "", `^[a-z]+(_[a-z]+)*$`},
	{"internal/during/during.go", "failed_", `^(built-in|lock|query|select|metadata|fetch|authenticate|verify|unpack|policy|publish|cancel)$`},
	{"providercache/check.go", "", reasonPattern},
	{"providercache/internal/resolve/values.go", "", reasonPattern},
	{"providercache/mirror/vendor_check.go", "", reasonPattern},
	{"internal/config/modules/request.go", "", reasonPattern},
	{"command/initcmd/assess.go", "", reasonPattern},
	{"command/initcmd/assess.go", "", `^(provider_upgrade|package_refused)$`},
	{"command/vendorcmd/check.go", "", reasonPattern},
}

const reasonPattern = `^(lock|package|module|backend|workspace|plugin|constraint|built|record|git|documents)_[a-z_]+$`

// knownCodes are the codes in the source, each with a file in which it is.
func knownCodes(t *testing.T) map[string]string {
	t.Helper()
	known := map[string]string{}
	for _, source := range codeSources {
		file := must.Get(parser.ParseFile(token.NewFileSet(), source.file, nil, parser.SkipObjectResolution))(t)
		pattern, found := regexp.MustCompile(source.pattern), 0
		ast.Inspect(file, func(n ast.Node) bool {
			if _, imported := n.(*ast.ImportSpec); imported {
				return false
			}
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil || !pattern.MatchString(text) {
				return true
			}
			found++
			known[source.prefix+strings.ReplaceAll(text, "-", "_")] = source.file
			return true
		})
		if found == 0 {
			t.Errorf("%s has no code: this test looks for the wrong strings", source.file)
		}
	}
	return known
}

// TestDocs_NameTestsThatExist keeps the pages that say which test shows what in
// step with the tests.
func TestDocs_NameTestsThatExist(t *testing.T) {
	files, err := filepath.Glob(".release/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no test in .release: %v", err)
	}
	for _, file := range readTree(t) {
		if file.test {
			files = append(files, filepath.Join(file.dir, file.name))
		}
	}
	tests := map[string]bool{}
	for _, name := range files {
		content := must.Get(os.ReadFile(name))(t)
		for _, test := range declaredTests.FindAllStringSubmatch(string(content), -1) {
			tests[test[1]] = true
		}
	}
	named := 0
	for page, text := range pages(t) {
		if page == "CHANGELOG.md" { // which may name what is gone
			continue
		}
		for _, name := range testNames.FindAllString(text, -1) {
			named++
			if !tests[name] {
				t.Errorf("%s names %s, which is not a test", page, name)
			}
		}
		for _, session := range sessionNames.FindAllString(text, -1) {
			named++
			if _, err := os.Stat(filepath.Join("testdata/script", session)); err != nil {
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
	_, after, _ := strings.Cut(pages(t)["CONTRIBUTING.md"], "\n## Follow one provider\n")
	section, _, _ := strings.Cut(after, "\n## ")
	_, paths, _ := strings.Cut(section, "\n1. ")
	lists := strings.Split(paths, "\n1. ")
	must.Len(t, lists, 2)
	for i := range lists {
		files := listedFiles.FindAllStringSubmatch("\n1. "+lists[i], -1)
		seen := map[string]bool{}
		for _, file := range files {
			if _, err := os.Stat(filepath.FromSlash(file[1])); err != nil || seen[file[1]] {
				t.Errorf("path %d names %s, which is not there or comes twice", i+1, file[1])
			}
			seen[file[1]] = true
		}
		if len(files) < 10 {
			t.Errorf("path %d has %d files: this test looks for the wrong words", i+1, len(files))
		}
	}
}

var (
	listedFiles = regexp.MustCompile("\\n\\d+\\. `([^`]+)`")

	declaredTests = regexp.MustCompile(`(?m)^func (Test[A-Z]\w+)\(`)
	testNames     = regexp.MustCompile(`\bTest[A-Z]\w+`)
	sessionNames  = regexp.MustCompile(`\b[a-z_]+\.txtar\b`)
)

// TestComments_LinkToWhatExists: go doc shows a link as plain text if nothing has the name, such as what was renamed.
func TestComments_LinkToWhatExists(t *testing.T) {
	for _, broken := range brokenCommentLinks(readTree(t)) {
		t.Error(broken)
	}
}

// commentLink is a link in a comment, as go doc reads it.
var commentLink = regexp.MustCompile(`\[\*?(\w+(?:\.\w+){0,2})\]`)

// brokenCommentLinks lists links in comments that lead nowhere. Those to packages of others aren't looked at.
func brokenCommentLinks(files []goFile) (broken []string) {
	declared, packages := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		if f.test {
			continue
		}
		packages[f.tree.Name.Name] = true
		for _, name := range declarations(f.tree) {
			declared[f.dir+" "+name], declared[f.tree.Name.Name+"."+name] = true, true
		}
	}
	for _, f := range files {
		for _, group := range f.tree.Comments {
			for _, link := range commentLink.FindAllStringSubmatch(group.Text(), -1) {
				first, _, inPackage := strings.Cut(link[1], ".")
				known := f.test || declared[f.dir+" "+link[1]] || declared[link[1]]
				if !known && (ast.IsExported(first) || inPackage && packages[first]) {
					broken = append(broken, fmt.Sprintf("%s:%d: nothing is [%s]", f.path(), f.line(group.Pos()), link[1]))
				}
			}
		}
	}
	return broken
}

// declarations are the names at the top of a file, and "Type.Member" for fields and methods.
func declarations(tree *ast.File) (names []string) {
	for _, decl := range tree.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			name := f.Name.Name
			if f.Recv != nil {
				name = receiverOf(f) + "." + name
			}
			names = append(names, name)
			continue
		}
		for _, spec := range decl.(*ast.GenDecl).Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					names = append(names, name.Name)
				}
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
				ast.Inspect(spec.Type, func(n ast.Node) bool {
					if field, ok := n.(*ast.Field); ok {
						for _, name := range field.Names {
							names = append(names, spec.Name.Name+"."+name.Name)
						}
					}
					return true
				})
			}
		}
	}
	return names
}

// receiverOf is the type of a method, without a star or parameters.
func receiverOf(f *ast.FuncDecl) (name string) {
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return true
	})
	return name
}
