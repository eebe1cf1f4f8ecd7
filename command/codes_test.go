package command

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/must"
)

// codeNames returns the codes in the tables of docs/troubleshooting.md; TestDocs_TroubleshootingHasEveryCode checks that each is there once.
func codeNames(t *testing.T) (names []string) {
	for _, match := range regexp.MustCompile("(?m)(?:^|, )`([a-z_]+)`").FindAllSubmatch(must.Get(os.ReadFile("../docs/troubleshooting.md"))(t), -1) {
		names = append(names, string(match[1]))
	}
	return names
}

// sources returns the files of the program without tests, by their paths.
func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	all := map[string]*ast.File{}
	for _, root := range []string{".", "../getproviders", "../providercache", "../configs", "../depsfile", "../internal"} {
		must.Succeed(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				all[path], err = parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			}
			return err
		}))
	}
	return all
}

// TestCodes_AreThoseOfTheEngine reads the source: the tables have the codes that the methods Code of errors return, and
// the code of each problem.
func TestCodes_AreThoseOfTheEngine(t *testing.T) {
	t.Parallel()
	names, methods, problems := codeNames(t), 0, 0
	for path, file := range sources(t) {
		for _, code := range codesIn(file) {
			if methods++; !slices.Contains(names, code) && code != "failed_" {
				t.Errorf("%s: the code %q isn't in the table", path, code)
			}
		}
		for _, code := range codesOfProblemsIn(file) {
			if problems++; !slices.Contains(names, code) {
				t.Errorf("%s: the code %q isn't in the table", path, code)
			}
		}
	}
	if methods < 65 || problems < 180 {
		t.Errorf("found only %d codes of errors and %d of problems", methods, problems)
	}
}

// codesIn returns the texts in the methods Code of a file, and the codes that it gives to a Fault.
func codesIn(file *ast.File) (codes []string) {
	isCode := func(field string) bool { return field == "Code" || field == "ID" } // hosts.Fault has a method Code
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			for _, element := range n.Elts {
				field, ok := element.(*ast.KeyValueExpr)
				if ok && n.Type != nil && strings.HasSuffix(types.ExprString(n.Type), "Fault") && isCode(types.ExprString(field.Key)) {
					codes = append(codes, textsIn(field.Value)...)
				}
			}
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if field, ok := to.(*ast.SelectorExpr); ok && len(n.Lhs) == len(n.Rhs) && types.ExprString(field.X) == "failed" && isCode(field.Sel.Name) {
					codes = append(codes, textsIn(n.Rhs[i])...)
				}
			}
		}
		return true
	})
	for _, decl := range file.Decls {
		method, ok := decl.(*ast.FuncDecl)
		if !ok || method.Recv == nil || method.Name.Name != "Code" {
			continue
		}
		for _, text := range textsIn(method) {
			if text != "" && text != "-" && text != "_" {
				codes = append(codes, text)
			}
		}
	}
	return codes
}

// codesOfProblemsIn returns the codes of the problems that a file makes.
func codesOfProblemsIn(file *ast.File) (all []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) >= 2 {
			if called, ok := call.Fun.(*ast.SelectorExpr); ok && isProblem(called) && slices.Contains([]string{"Coded", "Error", "Errorf", "Warningf", "Fail", "Failed", "Unsaved", "Warn"}, called.Sel.Name) {
				for _, code := range textsIn(call.Args[0]) {
					if code != "" || !strings.HasPrefix(called.Sel.Name, "Warn") { // some warnings have no code
						all = append(all, code)
					}
				}
			}
		}
		return true
	})
	return all
}

// isProblem reports whether a called function is in package problem, or adds to a log of problems.
func isProblem(called *ast.SelectorExpr) bool {
	ofSlog := called.Sel.Name == "Warn" || called.Sel.Name == "Error"
	switch from := called.X.(type) {
	case *ast.Ident:
		return from.Name == "problem" || called.Sel.Name == "Coded" || strings.EqualFold(from.Name, "log") && !ofSlog
	case *ast.SelectorExpr:
		return strings.EqualFold(from.Sel.Name, "log") && !ofSlog
	}
	return false
}

// textsIn returns the constant texts in a part of a file.
func textsIn(n ast.Node) (texts []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}

// Failures that are provoked show codes of the table.
func TestCodes_AreInTheTable(t *testing.T) {
	t.Parallel()
	golden := must.Get(os.ReadFile("testdata/failures.txtar"))(t)
	names := codeNames(t)
	shown := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^\(code: (.*)\)$`).FindAllStringSubmatch(string(golden), -1) {
		if shown[match[1]] = true; !slices.Contains(names, match[1]) {
			t.Errorf("the code %q isn't in the table", match[1])
		}
	}
	if len(shown) < 30 {
		t.Errorf("%d codes are provoked", len(shown))
	}
}

// TestCodes_OfChecksAreInTheHelp compares the help of init with the table for people.
func TestCodes_OfChecksAreInTheHelp(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("../docs/troubleshooting.md"))(t)
	_, table, _ := strings.Cut(string(text), "\n## Reasons of -check\n")
	table, _, _ = strings.Cut(table, "\n## ")
	all := commands()
	help := all[slices.IndexFunc(all, func(c cli.Command) bool { return c.Name == "init" })].More
	codes := regexp.MustCompile("(?m)(?:^|, )`([a-z_]+)`").FindAllStringSubmatch(table, -1)
	for _, code := range codes {
		if !regexp.MustCompile(`[\s"]` + code[1] + `[\s"]`).MatchString(help) {
			t.Errorf("the help of init hasn't %s", code[1])
		}
	}
	if len(codes) < 15 {
		t.Errorf("the table has %d codes", len(codes))
	}
}
