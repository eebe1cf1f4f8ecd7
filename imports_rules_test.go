package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// goFile is one Go file, parsed.
type goFile struct {
	dir, name string // slash-separated, relative to the module's root
	test      bool
	src       string
	tree      *ast.File
	fset      *token.FileSet
	imports   []string
	names     map[string]string // of imported packages in this file, to their paths
}

func (f goFile) path() string { return path.Join(f.dir, f.name) }

func (f goFile) line(pos token.Pos) int { return f.fset.Position(pos).Line }

// support reports whether a package is for tests: it has a name that says so.
func support(dir string) bool {
	return strings.HasSuffix(dir, "test") || strings.HasSuffix(dir, "/harness") || dir == "internal/must"
}

func parseFile(name, src string) (goFile, error) {
	f := goFile{dir: path.Dir(name), name: path.Base(name), src: src, fset: token.NewFileSet(), names: map[string]string{}}
	f.test = strings.HasSuffix(name, "_test.go")
	var err error
	if f.tree, err = parser.ParseFile(f.fset, name, src, parser.SkipObjectResolution|parser.ParseComments); err != nil {
		return f, err
	}
	for _, spec := range f.tree.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		f.imports = append(f.imports, imported)
		local := path.Base(imported)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		f.names[local] = imported
	}
	return f, nil
}

// problems lists what is wrong with a file, each with its line.
func (f goFile) problems() (found []string) {
	at := func(pos token.Pos, format string, args ...any) {
		found = append(found, fmt.Sprintf("%d: ", f.line(pos))+fmt.Sprintf(format, args...))
	}
	top := f.tree.Package
	for i, imported := range f.imports {
		if problem := f.checkImport(imported); problem != "" {
			at(f.tree.Imports[i].Pos(), "%s", problem)
		}
	}
	for _, name := range []string{strings.TrimSuffix(f.tree.Name.Name, "_test"), path.Base(f.dir)} {
		if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "types", "misc", "shared"}, name) {
			at(top, "a package named %s says nothing of what is in it", name)
		}
	}
	if floorOf(f.dir) < 0 {
		at(top, "the package is on no floor")
	}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		f.checkNode(n, at)
		return true
	})
	return found
}

// floorOf is a package's place among the floors; -1: it has none.
func floorOf(dir string) int {
	return slices.IndexFunc(floors, func(floor []string) bool { return slices.Contains(floor, dir) })
}

// checkImport returns what is wrong with an import, "" if nothing is.
func (f goFile) checkImport(imported string) string {
	forTests := f.test || support(f.dir)
	if rel, ours := strings.CutPrefix(imported, modulePath); ours {
		rel = strings.TrimPrefix(rel, "/")
		isApart := func(pair [2]string) bool { return f.dir != assembly && within(f.dir, pair[0]) && within(rel, pair[1]) }
		switch {
		case support(rel) && !forTests:
			return imported + " is for tests"
		case support(rel), f.test && (rel == f.dir || slices.Contains(moreForTests[f.dir], rel)):
			return ""
		case floorOf(rel) <= floorOf(f.dir), slices.ContainsFunc(apart, isApart):
			return "must not import " + imported
		}
		return ""
	}
	first, _, _ := strings.Cut(imported, "/")
	if strings.Contains(first, ".") {
		return f.checkModule(imported)
	}
	if !f.test && !support(f.dir) && (first == "testing" || imported == "log") || imported == "testing" && !f.test && strings.HasSuffix(f.dir, "/providertest") {
		return "must not import " + imported
	}
	return ""
}

// within reports whether a directory is another one, or below it.
func within(dir, parent string) bool { return dir == parent || strings.HasPrefix(dir, parent+"/") }

func (f goFile) checkModule(imported string) string {
	row := rowOf(imported)
	here := row != nil && slices.ContainsFunc(row[1:], func(place string) bool {
		return place == f.dir || place == f.path() || f.test && (path.Dir(place) == f.dir || place == "tests")
	})
	switch {
	case row == nil:
		return imported + " is in no row of the dependency table"
	case here && (f.mayStart() || !slices.Contains(startPrograms, imported)):
		return ""
	}
	return "must not import " + imported
}

// rowOf finds the row with the longest module path that imported is in.
func rowOf(imported string) (row []string) {
	for _, r := range thirdParty {
		if within(imported, r[0]) && (row == nil || len(r[0]) > len(row[0])) {
			row = r
		}
	}
	return row
}

// mayStart reports whether a file may start programs.
func (f goFile) mayStart() bool {
	return f.test || support(f.dir) || f.dir == "internal/subprocess" || slices.Contains(startedByUser, f.path())
}

func (f goFile) checkNode(n ast.Node, at func(token.Pos, string, ...any)) {
	free := f.test || support(f.dir) || f.path() == "main.go"
	switch n := n.(type) {
	case *ast.ImportSpec:
		if n.Name != nil && n.Name.Name == "." && !free {
			at(n.Pos(), "imports %s without a name", n.Path.Value)
		}
	case *ast.FuncDecl:
		if n.Recv == nil && n.Name.Name == "init" {
			at(n.Pos(), "func init")
		}
	case *ast.SelectorExpr:
		name := f.qualified(n)
		if process.MatchString(name) && !free {
			at(n.Pos(), "uses %s, which is main.go's", name)
		}
		if starts.MatchString(name) && !f.mayStart() {
			at(n.Pos(), "uses %s, which is for internal/subprocess", name)
		}
		if replaces.MatchString(name) && !free && f.dir != "internal/patient" && f.path() != removesUnlocked {
			at(n.Pos(), "uses %s, which fails on Windows while another program has the file open: internal/patient waits", name)
		}
	case *ast.CompositeLit:
		if f.qualified(n.Type) == "os/exec.Cmd" && !f.mayStart() {
			at(n.Pos(), "makes an exec.Cmd, which is for internal/subprocess")
		}
	case *ast.BasicLit:
		if ownCommand.MatchString(n.Value) && !free && !slices.Contains(namesItself, f.path()) {
			at(n.Pos(), "a command that is called tfdeps, and not by the name in explain.Names")
		}
	case *ast.CallExpr:
		if f.qualified(n.Fun) == "time.Now" && !free {
			at(n.Pos(), "calls time.Now; a clock is a field")
		}
	}
}

// qualified returns "os.Exit" for a selector on an imported package, whatever name the file gives to it, and "" for everything else.
func (f goFile) qualified(e ast.Expr) string {
	if sel, ok := e.(*ast.SelectorExpr); ok {
		if x, ok := sel.X.(*ast.Ident); ok && f.names[x.Name] != "" {
			return f.names[x.Name] + "." + sel.Sel.Name
		}
	}
	return ""
}

// dependencyProblems compares the table with go.mod and with the files.
func dependencyProblems(table [][]string, direct []string, files []goFile) (problems []string) {
	rows := map[string]bool{}
	for _, row := range table {
		if rows[row[0]] = true; !slices.Contains(direct, row[0]) {
			problems = append(problems, "go.mod doesn't require "+row[0]+" directly, yet it has a row in the dependency table")
		}
		for _, place := range row[1:] {
			uses := func(f goFile) bool {
				return (f.dir == place || f.path() == place) && slices.ContainsFunc(f.imports, func(imported string) bool {
					found := rowOf(imported)
					return found != nil && found[0] == row[0]
				})
			}
			if place != "tests" && !slices.ContainsFunc(files, uses) {
				problems = append(problems, row[0]+" isn't used in "+place+", where the dependency table allows it")
			}
		}
	}
	for _, module := range direct {
		if !rows[module] {
			problems = append(problems, "go.mod requires "+module+", which has no row in the dependency table")
		}
	}
	return problems
}
