package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// changedTrees are the packages that -random changes: those that decide which bytes are installed. Names of packages that
// only tests import end in "test".
var changedTrees = []string{"./getproviders/...", "./internal/hosts/...", "./providercache/policy/...", "./providercache/internal/...", "./depsfile/...", "./internal/config/git/..."}

// listed is the output of go list for a package.
type listed struct {
	ImportPath, Dir, Export            string
	DepOnly                            bool
	GoFiles                            []string
	Imports, TestImports, XTestImports []string
	Module                             *struct{ Dir string }
}

func goList(arguments ...string) (packages []listed, err error) {
	cmd := exec.Command("go", append([]string{"list"}, arguments...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// changer has the parsed packages, and finds changes in them.
type changer struct {
	fset   *token.FileSet
	config types.Config
	trees  map[string][]*ast.File // by directory
	found  []change
}

// findAll finds all changes that the rules can make in the trees, for this system.
func findAll(trees []string) (*changer, error) {
	packages, err := goList(append([]string{"-export", "-deps", "-json=ImportPath,Dir,Export,DepOnly,GoFiles,Module"}, trees...)...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	c := &changer{fset: token.NewFileSet(), trees: map[string][]*ast.File{}}
	c.config.Importer = importer.ForCompiler(c.fset, "gc", func(name string) (io.ReadCloser, error) { return os.Open(exports[name]) })
	for _, p := range packages {
		if p.DepOnly || strings.HasSuffix(p.ImportPath, "test") {
			continue
		}
		if err := c.findIn(p); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *changer) findIn(p listed) error {
	dir, err := filepath.Rel(p.Module.Dir, p.Dir)
	if err != nil {
		return err
	}
	dir = filepath.ToSlash(dir)
	sources := map[*ast.File][]byte{}
	for _, name := range p.GoFiles {
		source, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return err
		}
		tree, err := parser.ParseFile(c.fset, path.Join(dir, name), source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		sources[tree] = source
		c.trees[dir] = append(c.trees[dir], tree)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	if _, err := c.config.Check(p.ImportPath, c.fset, c.trees[dir], info); err != nil {
		return err
	}
	for _, tree := range c.trees[dir] {
		if !ast.IsGenerated(tree) {
			c.found = append(c.found, find(c.name(tree), sources[tree], c.fset, tree, info)...)
		}
	}
	return nil
}

func (c *changer) name(tree *ast.File) string { return c.fset.File(tree.Pos()).Name() }

// pick returns n changes that compile: the same number by each rule, and those whose keys have the smallest
// checksums together with the seed. So nobody chooses them, and most stay the same after changes of the code.
func (c *changer) pick(n int, seed string) ([]change, error) {
	byRule := map[string][]change{}
	for _, found := range c.found {
		byRule[found.rule] = append(byRule[found.rule], found)
	}
	for _, changes := range byRule {
		sums := map[string][32]byte{}
		for _, found := range changes {
			sums[found.key()] = sha256.Sum256([]byte(seed + "\x00" + found.key()))
		}
		slices.SortFunc(changes, func(a, b change) int {
			sumA, sumB := sums[a.key()], sums[b.key()]
			return bytes.Compare(sumA[:], sumB[:])
		})
	}
	var picked []change
	for len(byRule) > 0 && len(picked) < n {
		for _, rule := range ruleNames {
			for len(picked) < n && len(byRule[rule]) > 0 {
				next := byRule[rule][0]
				byRule[rule] = byRule[rule][1:]
				if compiles, err := c.compiles(next); err != nil {
					return nil, err
				} else if compiles {
					picked = append(picked, next)
					break
				}
			}
			if len(byRule[rule]) == 0 {
				delete(byRule, rule)
			}
		}
	}
	return picked, nil
}

func (c *changer) compiles(made change) (bool, error) {
	source, err := os.ReadFile(filepath.FromSlash(made.file))
	if err != nil {
		return false, err
	}
	changed, err := parser.ParseFile(c.fset, made.file, made.apply(source), parser.SkipObjectResolution)
	if err != nil {
		return false, nil // it doesn't compile
	}
	dir := path.Dir(made.file)
	trees := slices.Clone(c.trees[dir])
	trees[slices.IndexFunc(trees, func(tree *ast.File) bool { return c.name(tree) == made.file })] = changed
	_, err = c.config.Check(dir, c.fset, trees, nil)
	return err == nil, nil
}

// explanation says why a change may survive.
type explanation struct {
	line   int
	key    string
	reason string
	file   string
	before string
}

// readExplained reads the changes that may survive. A line "file PATH" is for all entries that
// follow. Each entry has the lines "- FUNCTION: LINE" and "+ RULE: WHAT", as for a printed survivor, and "= REASON".
func readExplained(name string) (all []explanation, err error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var c change
	for i, line := range strings.Split(string(content), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "file":
			c.file = rest
		case "-":
			c.function, c.before, _ = strings.Cut(rest, ": ")
		case "+":
			c.rule, c.after, _ = strings.Cut(rest, ": ")
		case "=":
			all = append(all, explanation{line: i + 1, key: c.key(), reason: rest, file: c.file, before: c.before})
		case "", "#":
		default:
			return nil, fmt.Errorf("%s:%d: %q isn't understood", name, i+1, line)
		}
	}
	return all, nil
}

// compareExplained finds explanations of lines that their file doesn't have any more.
func compareExplained(all []explanation) error {
	var errs []error
	for _, e := range all {
		content, err := os.ReadFile(e.file)
		if err == nil && !bytes.Contains(content, []byte(e.before)) {
			err = fmt.Errorf("%s has no line %q any more", e.file, e.before)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("explained.txt:%d: %w", e.line, err))
		}
	}
	return errors.Join(errs...)
}

// fullSeed returns the hash of a commit. A full hash is returned without a look at the repository.
func fullSeed(commit string) (string, error) {
	if len(commit) == 40 && strings.Trim(commit, "0123456789abcdef") == "" {
		return commit, nil
	}
	out, err := exec.Command("git", "rev-parse", "--verify", "--end-of-options", commit+"^{commit}").Output()
	if err != nil {
		return "", fmt.Errorf("-seed=%s names no commit of this repository: %w", commit, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// nearness names the groups of tests in the order in which they run: those near the change first.
var nearness = []string{"its own package's", "packages' that import it", "the commands'"}

// testsOf returns the arguments of go test for the tests of a file in one group of nearness, or nil if there are no such tests.
func testsOf(file string, near int, packages []listed) []string {
	dir := path.Dir(file)
	if near == 0 {
		return []string{"-short", "-timeout=2m", "./" + dir}
	}
	arguments := []string{"-short", "-timeout=5m"}
	for _, p := range packages {
		rel, err := filepath.Rel(p.Module.Dir, p.Dir)
		if err != nil {
			continue
		}
		rel = filepath.ToSlash(rel)
		imports := slices.ContainsFunc(slices.Concat(p.Imports, p.TestImports, p.XTestImports), func(name string) bool { return strings.HasSuffix(name, "/"+dir) })
		ofCommand := rel == "command" || strings.HasPrefix(rel, "command/")
		switch tested := len(p.TestImports)+len(p.XTestImports) > 0; {
		case !tested || rel == dir:
		case ofCommand && near == 2 && (imports || rel == "command"), !ofCommand && near == 1 && imports:
			arguments = append(arguments, "./"+rel)
		}
	}
	if len(arguments) == 2 {
		return nil
	}
	return arguments
}

// random makes n changes by rule, one at a time, and returns how many survived without a reason.
// It only tries changes with a number from from to before to, and that named accepts.
func random(n int, seed string, onlyPrint bool, from, to int, named func(string) bool, out io.Writer) (survivors int, err error) {
	all, err := readExplained(filepath.Join("testdata", "mutate", "explained.txt"))
	if err != nil {
		return 0, err
	}
	reasons := map[string]string{}
	for _, e := range all {
		reasons[e.key] = e.reason
	}
	if seed, err = fullSeed(seed); err != nil {
		return 0, err
	}
	code, err := findAll(changedTrees)
	if err != nil {
		return 0, err
	}
	picked, err := code.pick(n, seed)
	if err != nil {
		return 0, err
	}
	packages, err := goList("-json=ImportPath,Dir,Imports,TestImports,XTestImports,Module", "./...")
	if err != nil {
		return 0, err
	}
	type numbered struct {
		change
		number int
	}
	var left []numbered
	for i, c := range picked {
		if i+1 >= from && i+1 < to && named(c.file+" "+c.before) {
			c.why = reasons[c.key()]
			left = append(left, numbered{c, i + 1})
		}
	}
	fmt.Fprintf(out, "%d changes of %d that the rules can make, by %s\n", len(left), len(code.found), seed)
	if onlyPrint {
		for _, c := range left {
			fmt.Fprintf(out, "%d: %s:%d: %s: %s: %s\n", c.number, c.file, c.line, c.function, c.rule, c.after)
		}
		return 0, nil
	}
	for near, whose := range nearness {
		var passed []numbered
		for _, c := range left {
			result, err := c.try(testsOf(c.file, near, packages))
			if err != nil {
				result = err.Error()
			}
			if result == survived && c.why == "" {
				passed = append(passed, c)
				result = "passed " + whose + " tests"
			} else if result == survived {
				result = "survived, as it may: " + c.why
			}
			fmt.Fprintf(out, "%s: %d: %s:%d: %s: %s: %s\n", result, c.number, c.file, c.line, c.function, c.rule, c.after)
		}
		left = passed
	}
	slices.SortFunc(left, func(a, b numbered) int { return cmp.Or(strings.Compare(a.file, b.file), a.line-b.line) })
	for _, c := range left {
		fmt.Fprintf(out, "%s: %d: line %d of\nfile %s\n- %s: %s\n+ %s: %s\n", survived, c.number, c.line, c.file, c.function, c.before, c.rule, c.after)
	}
	return len(left), nil
}

// try runs tests with the change, and returns the result.
func (c change) try(arguments []string) (string, error) {
	if arguments == nil {
		return survived, nil
	}
	source, err := os.ReadFile(filepath.FromSlash(c.file))
	if err != nil {
		return "", err
	}
	return goTest(c.file, c.apply(source), arguments...)
}
