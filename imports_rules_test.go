package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// The limits of a file, of a function and of a package comment, in lines. Tests may be longer: their tables grow with the facts.
const maxFileLines, maxFuncLines, maxDocLines = 400, 70, 60

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
	if lines := strings.Count(f.src, "\n"); lines > maxFileLines && !f.test {
		at(top, "%d lines, more than %d", lines, maxFileLines)
	}
	if f.tree.Doc != nil && len(f.tree.Doc.List) > maxDocLines {
		at(top, "the package comment has %d lines, more than %d", len(f.tree.Doc.List), maxDocLines)
	}
	f.checkWords(at)
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
	row, known := allowanceFor(imported)
	here := slices.ContainsFunc(strings.Fields(row.where), func(place string) bool {
		return place == f.dir || place == f.path() || f.test && path.Dir(place) == f.dir
	})
	switch {
	case !known:
		return imported + " is in no row of the dependency table"
	case slices.Contains(startPrograms, imported) && !f.mayStart():
	case here, f.test && row.tests:
		return ""
	}
	return "must not import " + imported
}

// allowanceFor finds the row with the longest module path that imported is in.
func allowanceFor(imported string) (row allowance, known bool) {
	for _, r := range thirdParty {
		if within(imported, r.module) && len(r.module) > len(row.module) {
			row, known = r, true
		}
	}
	return row, known
}

// checkWords finds coined words in comments and in the names that the file declares or uses.
func (f goFile) checkWords(at func(token.Pos, string, ...any)) {
	look := func(pos token.Pos, text string) {
		if word := coinedWords.FindString(text); word != "" {
			at(pos, "the word %q, which only insiders know", word)
		}
	}
	if !coinedWords.MatchString(capitals.ReplaceAllString(f.src, "$1 $2")) {
		return
	}
	for _, group := range f.tree.Comments {
		look(group.Pos(), group.Text())
	}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			look(name.Pos(), capitals.ReplaceAllString(name.Name, "$1 $2"))
		}
		return true
	})
}

// capitals are where the words of a name begin.
var capitals = regexp.MustCompile(`([a-z])([A-Z_])`)

// process are the names of package os by which a program reaches its process.
var process = regexp.MustCompile(`^(os\.(Args|Environ|Exit|Getenv|LookupEnv|Setenv|Unsetenv|Clearenv|ExpandEnv|User\w+Dir|Stdin|Stdout|Stderr|Chdir)|syscall\.(Getenv|Environ|Exit))$`)

// starts are the functions that start a program.
var starts = regexp.MustCompile(`^(os/exec\.Command(Context)?|os\.StartProcess|syscall\.(Exec|ForkExec|StartProcess)|golang\.org/x/sys/(unix\.Exec|windows\.CreateProcess))$`)

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
		if lines := f.line(n.End()) - f.line(n.Pos()) + 1; lines > maxFuncLines && !free {
			at(n.Pos(), "%s has %d lines, more than %d", n.Name.Name, lines, maxFuncLines)
		}
	case *ast.SelectorExpr:
		name := f.qualified(n)
		if process.MatchString(name) && !free {
			at(n.Pos(), "uses %s, which is main.go's", name)
		}
		if starts.MatchString(name) && !f.mayStart() {
			at(n.Pos(), "uses %s, which is for internal/subprocess", name)
		}
	case *ast.CompositeLit:
		if f.qualified(n.Type) == "os/exec.Cmd" && !f.mayStart() {
			at(n.Pos(), "makes an exec.Cmd, which is for internal/subprocess")
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
func dependencyProblems(table []allowance, direct []string, files []goFile) (problems []string) {
	rows := map[string]bool{}
	for _, row := range table {
		rows[row.module] = true
		if !slices.Contains(direct, row.module) {
			problems = append(problems, "go.mod doesn't require "+row.module+" directly, yet it has a row in the dependency table")
		}
		for _, place := range strings.Fields(row.where) {
			uses := func(f goFile) bool {
				return (f.dir == place || f.path() == place) && slices.ContainsFunc(f.imports, func(imported string) bool {
					found, _ := allowanceFor(imported)
					return found.module == row.module
				})
			}
			if !slices.ContainsFunc(files, uses) {
				problems = append(problems, row.module+" isn't used in "+place+", where the dependency table allows it")
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
				ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok && name == f.Name.Name {
						name = id.Name + "." + name
					}
					return true
				})
			}
			names = append(names, name)
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				return false
			case *ast.ValueSpec:
				for _, name := range n.Names {
					names = append(names, name.Name)
				}
			case *ast.TypeSpec:
				names = append(names, n.Name.Name)
				ast.Inspect(n.Type, func(m ast.Node) bool {
					if field, ok := m.(*ast.Field); ok {
						for _, name := range field.Names {
							names = append(names, n.Name.Name+"."+name.Name)
						}
					}
					return true
				})
			}
			return true
		})
	}
	return names
}

// TestRules_CanFail tests the tester: each row is a file, what is in it, and a part of the problem that it has; "" is none.
func TestRules_CanFail(t *testing.T) {
	const ours, body = "import _ \"" + modulePath + "/", "func f() {"
	for _, c := range []struct{ file, src, want string }{
		{"getproviders/x.go", ours + `providercache"`, "must not import"},
		{"depsfile/x.go", ours + `configs"`, "must not import"},
		{"internal/par/x.go", ours + `internal/hosts"`, "must not import"},
		{"command/x.go", `import _ "` + modulePath + `"`, "must not import"},
		{"providercache/x.go", ours + `getproviders/providertest"`, "for tests"},
		{"providercache/mirror/x.go", ours + `configs/cliconfig"`, "must not import"},
		{"command/initcmd/x.go", ours + `command/getcmd"`, "must not import"},
		{"command/e2etest/faults/x_test.go", ours + `command"`, "must not import"},
		{"getproviders/x_test.go", ours + `command"`, "must not import"},
		{"extra/x.go", "", "on no floor"},
		{"providercache/x.go", ours + `depsfile"`, ""},
		{"depsfile/x_test.go", ours + `getproviders/providertest"`, ""},
		{"depsfile/x_test.go", ours + `depsfile"`, ""},
		{"command/e2etest/faults/x_test.go", ours + `depsfile"`, ""},
		{"getproviders/x.go", `import _ "example.com/some/thing"`, "no row"},
		{"getproviders/x.go", `import _ "github.com/hashicorp/go-version2"`, "no row"},
		{"getproviders/x.go", `import _ "github.com/hashicorp/hcl/v2/hclsyntax"`, "must not import"},
		{"getproviders/x.go", `import _ "github.com/ProtonMail/go-crypto/openpgp"`, "must not import"},
		{"getproviders/h1.go", `import _ "golang.org/x/mod/sumdb/dirhash"`, "must not import"},
		{"getproviders/authenticate_signature.go", `import _ "github.com/ProtonMail/go-crypto/openpgp"`, ""},
		{"getproviders/x_test.go", `import _ "golang.org/x/mod/sumdb/dirhash"`, ""},
		{"getproviders/providertest/x.go", `import _ "testing"`, "testing"},
		{"getproviders/x.go", `import _ "testing/iotest"`, "testing"},
		{"providercache/x.go", `import _ "log"`, "log"},
		{"providercache/x.go", `import _ "log/slog"`, ""},
		{"command/x_test.go", "func init() {}", "func init"},
		{"command/x.go", "type t struct{}\nfunc (t) init() {}", ""},
		{"getproviders/x.go", "import \"os\"\nvar x = os.Getenv(\"HOME\")", "os.Getenv"},
		{"command/x.go", "import sys \"os\"\nfunc f() { sys.Exit(1) }", "os.Exit"},
		{"command/x.go", "import . \"os\"\nfunc f() { Exit(1) }", "without a name"},
		{"command/main.go", "import \"os\"\nvar f = os.Stdout", "os.Stdout"},
		{"main.go", "import \"os\"\nfunc f() { os.Exit(len(os.Args)) }", ""},
		{"depsfile/x.go", "import \"os\"\nvar f, _ = os.ReadFile(\"x\")", ""},
		{"getproviders/x.go", "import \"time\"\nvar x = time.Now()", "time.Now"},
		{"getproviders/x.go", "import \"time\"\nvar now = time.Now", ""},
		{"command/x.go", strings.Repeat("\n", maxFileLines), "lines, more than"},
		{"command/x_test.go", strings.Repeat("\n", 2*maxFileLines), ""},
		{"command/x.go", body + strings.Repeat("\n", maxFuncLines) + "}", "f has 71 lines"},
		{"command/x.go", body + strings.Repeat("\n", maxFuncLines-1) + "}", ""},
		{"command/x.go", "type openUpkeep int", "Upkeep"},
		{"command/x.go", "// f fills a shelf.\nfunc f() {}", "shelf"},
		{"command/x.go", "var bookshelf, shelfy int", ""},
		{"command/util/x.go", "", "says nothing"},
		{"internal/config/fetch/x.go", "import \"os/exec\"\nvar x = exec.CommandContext(nil, \"hg\")", "os/exec.CommandContext"},
		{"command/x.go", "import \"os/exec\"\nvar x = &exec.Cmd{Path: \"hg\"}", "exec.Cmd"},
		{"command/x.go", "import \"os\"\nvar x, _ = os.StartProcess(\"hg\", nil, nil)", "os.StartProcess"},
		{"internal/oci/x.go", `import _ "oras.land/oras-go/v2/registry/remote/credentials"`, "must not import"},
		{"command/servecmd/child.go", "import \"os/exec\"\nvar x = exec.Command(\"make\")", ""},
		{"command/x.go", "import \"os/exec\"\nfunc f(c *exec.Cmd) error { return c.Run() }", ""},
	} {
		f := must.Get(parseFile(c.file, "package p\n"+c.src+"\n"))(t)
		if got := strings.Join(f.problems(), "; "); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s with %.60q: got %q, want something with %q", c.file, c.src, got, c.want)
		}
	}
	long, err := parseFile("command/x.go", strings.Repeat("// text\n", maxDocLines+1)+"package p\n")
	if got := strings.Join(long.problems(), ""); err != nil || !strings.Contains(got, "61 lines") {
		t.Errorf("a long package comment: %q, %v", got, err)
	}
}

func TestBrokenCommentLinks_CanFail(t *testing.T) {
	const src = "package store\n\n// T is in [Store], beside [T.Field], [*T.Do] and [store.T]; [x] and [json.Decoder] aren't ours.\n" +
		"type T struct{ Field int }\n\n// Do has [T.Gone], [store.Gone] and [Gone].\nfunc (t *T) Do() {}\n\nconst Store = 1\n"
	f := must.Get(parseFile("providercache/internal/store/x.go", src))(t)
	var want []string
	for _, name := range []string{"T.Gone", "store.Gone", "Gone"} {
		want = append(want, "providercache/internal/store/x.go:6: nothing is ["+name+"]")
	}
	must.EqualSlices(t, brokenCommentLinks([]goFile{f}), want)
}

func TestDependencyTableRules_CanFail(t *testing.T) {
	const module = "github.com/hashicorp/go-version" // of the real table, which tells modules apart
	row := allowance{module: module, where: "depsfile"}
	user := must.Get(parseFile("depsfile/x.go", "package p\nimport _ \""+module+"\"\n"))(t)
	for _, c := range []struct {
		table  []allowance
		direct []string
		files  []goFile
		want   string
	}{
		{[]allowance{row}, []string{module}, []goFile{user}, ""},
		{nil, []string{module}, []goFile{user}, "no row"},
		{[]allowance{row}, nil, []goFile{user}, "doesn't require"},
		{[]allowance{row}, []string{module}, nil, "isn't used in depsfile"},
	} {
		if got := strings.Join(dependencyProblems(c.table, c.direct, c.files), "; "); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("got %q, want something with %q", got, c.want)
		}
	}
}
