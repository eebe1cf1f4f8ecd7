package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The limits of a file and of a function, in lines. Tests may be longer: their
// tables grow with the facts.
const (
	maxFileLines = 400
	maxFuncLines = 70
	maxDocLines  = 60 // of a package comment
)

// goFile is what the rules look at: one Go file, parsed.
type goFile struct {
	dir, name   string // slash-separated, relative to the module's root
	packageName string
	test        bool
	imports     []string
	lines       int
	docLines    int
	uses        []use
	declares    []string // "Name", and "Type.Member" for fields and methods
	links       []use    // in comments, such as [Name], [Type.Member] and [pkg.Name]
}

// use is one place where a file uses something that a rule is about.
type use struct {
	kind useKind
	what string
	line int
}

type useKind int

const (
	useInit     useKind = iota // func init()
	useParallel                // go, chan, <-, select, or a package of locks
	useProcess                 // arguments, environment, exit
	useClock                   // time.Now() called, not handed on
	useLongFunc
	useCoined   // a word of the table, in an identifier or a comment
	useStart    // a program is started
	useInternal // an internal type in the signature of an exported function, without a word about it
)

func (f goFile) path() string { return path.Join(f.dir, f.name) }

// isTestCode reports whether only tests ever run the file.
func (f goFile) isTestCode() bool { return f.test || slices.Contains(testSupport, f.dir) }

// treeRule is one rule about single files. It returns what is wrong, empty if
// nothing is.
type treeRule struct {
	name  string
	check func(goFile) []string
}

var treeRules = []treeRule{
	{"imports of ours point downwards", checkLayer},
	{"modules of others stay in their place", checkThirdParty},
	{"production code imports neither testing nor log", checkTestingAndLog},
	{"no func init", func(f goFile) []string { return f.unless(false, useInit) }},
	{"concurrency lives in getproviders/par", checkParallel},
	{"only main.go knows of the process", checkProcess},
	{"engine packages have no clock", checkClock},
	{"helper programs are started by getproviders/subprocess", checkStart},
	{"files are small", checkFileLines},
	{"package comments are short", checkDocLines},
	{"functions are small", func(f goFile) []string { return f.unless(f.isTestCode(), useLongFunc) }},
	{"packages have names that say something", checkPackageName},
	{"coined words stay away", checkCoined},
	{"functions with internal types say for whom they are", checkInternalTypes},
}

// unless lists the uses of a kind, if they aren't allowed.
func (f goFile) unless(allowed bool, kind useKind) []string {
	if allowed {
		return nil
	}
	var problems []string
	for _, u := range f.uses {
		if u.kind == kind {
			problems = append(problems, fmt.Sprintf("line %d: %s", u.line, u.what))
		}
	}
	return problems
}

func checkLayer(f goFile) []string {
	allowed, known := layers[f.dir]
	if !known {
		return []string{"the package is not in the table of layers"}
	}
	var problems []string
	for _, imported := range f.imports {
		rel, ours := ownPackage(imported)
		if !ours || slices.Contains(allowed, rel) {
			continue
		}
		if f.test && (rel == f.dir || slices.Contains(testSupport, rel) || slices.Contains(moreForTests[f.dir], rel)) {
			continue
		}
		problems = append(problems, "must not import "+imported)
	}
	return problems
}

// ownPackage returns the directory of an import path of this module.
func ownPackage(imported string) (dir string, ours bool) {
	if imported == modulePath {
		return ".", true
	}
	return strings.CutPrefix(imported, modulePath+"/")
}

func checkThirdParty(f goFile) []string {
	var problems []string
	for _, imported := range f.imports {
		if _, ours := ownPackage(imported); ours || isStandard(imported) {
			continue
		}
		row, known := allowanceFor(imported)
		switch {
		case !known:
			problems = append(problems, imported+" is in no row of the dependency table")
		case f.test && row.tests, slices.Contains(row.places(), f.dir), slices.Contains(row.places(), f.path()):
		case f.test && anyBelow(row.places(), f.dir):
		default:
			problems = append(problems, "must not import "+imported)
		}
	}
	return problems
}

// isStandard: only paths outside the standard library begin with a domain.
func isStandard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

// allowanceFor finds the row with the longest module path that imported is in.
func allowanceFor(imported string) (row allowance, known bool) {
	for _, r := range thirdParty {
		inside := imported == r.module || strings.HasPrefix(imported, r.module+"/")
		if inside && len(r.module) > len(row.module) {
			row, known = r, true
		}
	}
	return row, known
}

// places are the packages and files of a row.
func (r allowance) places() []string { return strings.Fields(r.where) }

// anyBelow reports whether one of the places is a file of the package: its
// tests may then use the module as well.
func anyBelow(where []string, dir string) bool {
	return slices.ContainsFunc(where, func(w string) bool { return path.Ext(w) == ".go" && path.Dir(w) == dir })
}

func checkTestingAndLog(f goFile) []string {
	if slices.Contains(stopsTests, f.dir) {
		return nil
	}
	var problems []string
	for _, imported := range f.imports {
		isTesting := imported == "testing" || strings.HasPrefix(imported, "testing/")
		// The fake registry hands a log.Logger to the server under it.
		isLog := imported == "log" && !f.isTestCode()
		if !f.test && (isTesting || isLog) {
			problems = append(problems, "must not import "+imported)
		}
	}
	return problems
}

func checkParallel(f goFile) []string {
	// Events come from many goroutines to one observer, so they pass a lock.
	isEventSerialiser := f.path() == "providercache/event/event.go"
	return f.unless(f.isTestCode() || f.dir == "getproviders/par" || isEventSerialiser, useParallel)
}

func checkProcess(f goFile) []string {
	return f.unless(f.isTestCode() || f.path() == "main.go", useProcess)
}

func checkClock(f goFile) []string {
	return f.unless(f.isTestCode() || f.path() == "main.go", useClock)
}

// startedByUser are the files that start what the user asks for, in the working directory: the real program, and the
// command of serve. Its version is asked for there, too, because version managers choose by the directory.
var startedByUser = []string{"command/passthrough_unix.go", "command/passthrough_windows.go", "command/initcmd/handover.go",
	"command/products/version.go", "command/servecmd/child.go"}

func checkStart(f goFile) []string {
	problems := f.unless(f.isTestCode() || f.dir == "getproviders/subprocess" || slices.Contains(startedByUser, f.path()), useStart)
	// These packages of others start programs in the working directory.
	for _, imported := range []string{"oras.land/oras-go/v2/registry/remote/credentials", "github.com/aws/aws-sdk-go-v2/credentials/processcreds"} {
		if !f.isTestCode() && slices.Contains(f.imports, imported) {
			problems = append(problems, "must not import "+imported)
		}
	}
	return problems
}

// checkInternalTypes leaves out what says it of a whole package or type.
func checkInternalTypes(f goFile) []string {
	inside := strings.Contains(f.dir+"/", "internal/") || f.dir == "command" || strings.HasPrefix(f.dir, "command/")
	problems := f.unless(f.isTestCode() || inside || f.dir == "providercache/archivedir", useInternal)
	return slices.DeleteFunc(problems, func(problem string) bool {
		return f.dir == "providercache/store" && strings.Contains(problem, ": View.")
	})
}

func checkFileLines(f goFile) []string {
	if f.test || f.lines <= maxFileLines {
		return nil
	}
	return []string{fmt.Sprintf("%d lines, more than %d", f.lines, maxFileLines)}
}

func checkDocLines(f goFile) []string {
	if f.docLines <= maxDocLines {
		return nil
	}
	return []string{fmt.Sprintf("the package comment has %d lines, more than %d", f.docLines, maxDocLines)}
}

func checkPackageName(f goFile) []string {
	for _, name := range []string{f.packageName, path.Base(f.dir)} {
		switch strings.TrimSuffix(name, "_test") {
		case "util", "utils", "common", "helper", "helpers", "types", "misc", "shared":
			return []string{"a package named " + name + " says nothing of what is in it"}
		}
	}
	return nil
}

func checkCoined(f goFile) []string {
	var problems []string
	for _, u := range f.uses {
		if u.kind == useCoined {
			problems = append(problems, fmt.Sprintf("line %d: the word %q, which only insiders know", u.line, u.what))
		}
	}
	return problems
}

// coinedIn returns the words of the table that an identifier has in it, at
// whatever place, and be it in the plural.
func coinedIn(identifier string) (found []string) {
	spelled := spell(identifier)
	for i, word := range spelledWords {
		if strings.Contains(spelled, word+" ") || strings.Contains(spelled, word+"s ") {
			found = append(found, coinedWords[i])
		}
	}
	return found
}

// spelledWords is the table as coinedIn compares it.
var spelledWords = func() (all []string) {
	for _, word := range coinedWords {
		all = append(all, strings.TrimSuffix(spell(word), " "))
	}
	return all
}()

// spell splits an identifier at its capitals: "newCache_linux" is
// " new cache linux ".
func spell(identifier string) string {
	var out strings.Builder
	before := '_'
	for _, r := range identifier + "_" {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) && unicode.IsLower(before) || before == '_' {
			out.WriteByte(' ')
		}
		if unicode.IsLetter(r) {
			out.WriteRune(unicode.ToLower(r))
		}
		before = r
	}
	return out.String()
}

// dependencyProblems compares the table with go.mod and with the files.
func dependencyProblems(table []allowance, direct []string, files []goFile) []string {
	var problems []string
	for _, module := range direct {
		if !slices.ContainsFunc(table, func(r allowance) bool { return r.module == module }) {
			problems = append(problems, "go.mod requires "+module+", which has no row in the dependency table")
		}
	}
	for _, row := range table {
		if !slices.Contains(direct, row.module) {
			problems = append(problems, "go.mod doesn't require "+row.module+" directly, yet it has a row in the dependency table")
		}
		for _, place := range row.places() {
			if !usedIn(files, row.module, place) {
				problems = append(problems, row.module+" isn't used in "+place+", where the dependency table allows it")
			}
		}
	}
	return problems
}

// usedIn reports whether a file at the place imports the module.
func usedIn(files []goFile, module, place string) bool {
	return slices.ContainsFunc(files, func(f goFile) bool {
		return (f.dir == place || f.path() == place) && slices.ContainsFunc(f.imports, func(imported string) bool {
			row, _ := allowanceFor(imported)
			return row.module == module
		})
	})
}

// describeFile parses a file's source.
func describeFile(dir, name string, src []byte) (goFile, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, path.Join(dir, name), src, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return goFile{}, err
	}
	f := goFile{
		dir: dir, name: name, packageName: tree.Name.Name,
		test:  strings.HasSuffix(name, "_test.go"),
		lines: bytes.Count(src, []byte("\n")),
	}
	if tree.Doc != nil {
		f.docLines = strings.Count(tree.Doc.Text(), "\n")
	}
	scan := scanner{fset: fset, file: &f, names: map[string]string{}}
	for _, spec := range tree.Imports {
		scan.addImport(spec)
	}
	ast.Inspect(tree, scan.visit)
	scan.addDeclarations(tree)
	for _, group := range tree.Comments {
		for _, link := range commentLink.FindAllStringSubmatch(group.Text(), -1) {
			f.links = append(f.links, use{what: link[1], line: scan.line(group.Pos())})
		}
		for _, comment := range group.List {
			for _, word := range strings.FieldsFunc(comment.Text, func(r rune) bool { return !unicode.IsLetter(r) }) {
				scan.addWords(comment, word)
			}
		}
	}
	return f, nil
}

// commentLink is a link in a comment, as go doc reads it.
var commentLink = regexp.MustCompile(`\[\*?(\w+(?:\.\w+){0,2})\]`)

// addDeclarations collects what a file declares at its top, with the fields and methods of its types.
func (s *scanner) addDeclarations(tree *ast.File) {
	for _, decl := range tree.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			name := decl.Name.Name
			if decl.Recv != nil {
				name = receiverName(decl.Recv.List[0].Type) + "." + name
			}
			s.file.declares = append(s.file.declares, name)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				s.addSpec(spec)
			}
		}
	}
}

func (s *scanner) addSpec(spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			s.file.declares = append(s.file.declares, name.Name)
		}
	case *ast.TypeSpec:
		s.file.declares = append(s.file.declares, spec.Name.Name)
		members := &ast.FieldList{}
		switch typ := spec.Type.(type) {
		case *ast.StructType:
			members = typ.Fields
		case *ast.InterfaceType:
			members = typ.Methods
		}
		for _, member := range members.List {
			for _, name := range member.Names {
				s.file.declares = append(s.file.declares, spec.Name.Name+"."+name.Name)
			}
		}
	}
}

// receiverName is the name of a method's type.
func receiverName(typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.StarExpr:
		return receiverName(typ.X)
	case *ast.IndexExpr:
		return receiverName(typ.X)
	case *ast.IndexListExpr:
		return receiverName(typ.X)
	case *ast.Ident:
		return typ.Name
	}
	return ""
}

// brokenCommentLinks lists links in comments that lead nowhere. Those to packages of others aren't looked at.
func brokenCommentLinks(files []goFile) (broken []string) {
	declared, packages := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		if f.test {
			continue
		}
		packages[f.packageName] = true
		for _, name := range f.declares {
			declared[f.dir+" "+name], declared[f.packageName+"."+name] = true, true
		}
	}
	for _, f := range files {
		for _, link := range f.links {
			first, _, inPackage := strings.Cut(link.what, ".")
			switch {
			case f.test || declared[f.dir+" "+link.what] || declared[link.what]:
			case ast.IsExported(first), inPackage && packages[first]:
				broken = append(broken, fmt.Sprintf("%s:%d: nothing is [%s]", f.path(), link.line, link.what))
			}
		}
	}
	return broken
}

// scanner collects the uses of one file.
type scanner struct {
	fset  *token.FileSet
	file  *goFile
	names map[string]string // the name in this file of each imported package, to its path
}

func (s *scanner) add(kind useKind, at ast.Node, what string) {
	s.file.uses = append(s.file.uses, use{kind, what, s.line(at.Pos())})
}

func (s *scanner) line(pos token.Pos) int { return s.fset.Position(pos).Line }

func (s *scanner) addImport(spec *ast.ImportSpec) {
	imported, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return // the parser has refused it already
	}
	s.file.imports = append(s.file.imports, imported)
	local := path.Base(imported)
	if spec.Name != nil {
		local = spec.Name.Name
	}
	s.names[local] = imported
	if imported == "sync" || strings.HasPrefix(imported, "sync/") || strings.HasPrefix(imported, "golang.org/x/sync/") {
		s.add(useParallel, spec, "imports "+imported)
	}
	if local == "." && (imported == "os" || imported == "time" || imported == "syscall") {
		s.add(useProcess, spec, "imports "+imported+" without a name")
	}
}

func (s *scanner) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Ident:
		s.addWords(n, n.Name)
	case *ast.TypeSpec:
		if slices.Contains(coinedTypes, n.Name.Name) {
			s.add(useCoined, n, n.Name.Name)
		}
	case *ast.FuncDecl:
		s.visitFunc(n)
	case *ast.GoStmt:
		s.add(useParallel, n, "starts a goroutine")
	case *ast.ChanType:
		s.add(useParallel, n, "has a channel type")
	case *ast.SendStmt:
		s.add(useParallel, n, "sends on a channel")
	case *ast.SelectStmt:
		s.add(useParallel, n, "selects")
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			s.add(useParallel, n, "receives from a channel")
		}
	case *ast.SelectorExpr:
		s.visitSelector(n)
	case *ast.CompositeLit:
		if s.qualified(n.Type) == "os/exec.Cmd" {
			s.add(useStart, n, "makes an exec.Cmd")
		}
	case *ast.CallExpr:
		if s.qualified(n.Fun) == "time.Now" {
			s.add(useClock, n, "calls time.Now")
		}
	}
	return true
}

func (s *scanner) addWords(at ast.Node, text string) {
	for _, word := range coinedIn(text) {
		s.add(useCoined, at, word)
	}
}

func (s *scanner) visitFunc(n *ast.FuncDecl) {
	if n.Recv == nil && n.Name.Name == "init" {
		s.add(useInit, n, "func init")
	}
	if lines := s.line(n.End()) - s.line(n.Pos()) + 1; lines > maxFuncLines {
		s.add(useLongFunc, n, fmt.Sprintf("%s has %d lines, more than %d", n.Name.Name, lines, maxFuncLines))
	}
	s.visitSignature(n)
}

// visitSignature finds exported functions and methods that other programs see and can't
// call with values of their own.
func (s *scanner) visitSignature(n *ast.FuncDecl) {
	name := n.Name.Name
	if n.Recv != nil {
		at := n.Recv.List[0].Type
		if star, ok := at.(*ast.StarExpr); ok {
			at = star.X
		}
		if receiver, ok := at.(*ast.Ident); ok {
			if !receiver.IsExported() {
				return
			}
			name = receiver.Name + "." + name
		}
	}
	if !n.Name.IsExported() || strings.Contains(strings.Join(strings.Fields(n.Doc.Text()), " "), "or the packages above this one") {
		return
	}
	ast.Inspect(n.Type, func(part ast.Node) bool {
		if e, ok := part.(ast.Expr); ok && strings.Contains(s.qualified(e), "/internal/") {
			s.add(useInternal, n, fmt.Sprintf("%s has the type %s", name, path.Base(s.qualified(e))))
		}
		return true
	})
}

func (s *scanner) visitSelector(n *ast.SelectorExpr) {
	switch name := s.qualified(n); name {
	case "os.Args", "os.Environ", "os.Exit", "os.Getenv", "os.LookupEnv", "os.Setenv", "os.Unsetenv", "os.Clearenv",
		"os.ExpandEnv", "os.UserHomeDir", "os.UserCacheDir", "os.UserConfigDir", "os.Stdin", "os.Stdout", "os.Stderr",
		"os.Chdir", "syscall.Getenv", "syscall.Environ", "syscall.Exit":
		s.add(useProcess, n, "uses "+name)
	case "os/exec.Command", "os/exec.CommandContext", "os.StartProcess", "syscall.Exec", "syscall.ForkExec", "syscall.StartProcess",
		"golang.org/x/sys/unix.Exec", "golang.org/x/sys/windows.CreateProcess":
		s.add(useStart, n, "uses "+name)
	}
}

// qualified returns "os.Exit" for a selector on an imported package, whatever
// name the file gives to it, and "" for everything else.
func (s *scanner) qualified(e ast.Expr) string {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok || s.names[x.Name] == "" {
		return ""
	}
	return s.names[x.Name] + "." + sel.Sel.Name
}
