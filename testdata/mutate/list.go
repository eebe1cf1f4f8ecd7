package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"slices"
	"strings"
)

// mutation is an entry of list.txt: in a function of a file, a rule changes a piece of code.
//
//	test PACKAGE TESTS     the tests that should fail, for the entries that follow
//	file PATH              the file, for the entries that follow
//	- FUNCTION: CODE       the code, once in the function; "var" is all that is outside of functions
//	+ RULE                 what happens to it
//	= REASON               why the mutation may survive; only where it may
//
// The rules are
//
//	never                  the condition CODE is never true
//	always                 the condition CODE is always true
//	replace: OTHER         OTHER takes the place of CODE
//
// Code is compared token by token, so that spaces, lines and comments don't count.
type mutation struct {
	line       int // in list.txt
	pkg, tests string
	file       string
	function   string
	code       string
	rule       string
	other      string // for replace
	reason     string
}

// readList reads list.txt.
func readList(name string) (list []mutation, err error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}

	var now mutation
	for i, line := range strings.Split(string(content), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "test":
			now.pkg, now.tests, _ = strings.Cut(rest, " ")
		case "file":
			now.file = rest
		case "-":
			now.function, now.code, _ = strings.Cut(rest, ": ")
			now.line = i + 1
		case "+":
			now.rule, now.other, _ = strings.Cut(rest, ":")
			list = append(list, now)
		case "=":
			list[len(list)-1].reason = rest
		case "", "#":
		default:
			return nil, fmt.Errorf("%s:%d: %q isn't understood", name, i+1, line)
		}
	}
	return list, nil
}

// checkList returns an error for each mutation whose code isn't in its function exactly once.
func checkList(list []mutation) error {
	var errs []error
	for _, m := range list {
		source, err := os.ReadFile(m.file)
		if err == nil {
			_, err = m.apply(source)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("list.txt:%d: %w", m.line, err))
		}
	}
	return errors.Join(errs...)
}

// run runs the tests with the mutation, and returns the result.
func (m mutation) run() (string, error) {
	source, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}

	changed, err := m.apply(source)
	if err != nil {
		return "", err
	}
	return goTest(m.file, changed, "-timeout=5m", "-run="+m.tests, m.pkg)
}

// apply returns the source of the file with the mutation made.
func (m mutation) apply(source []byte) ([]byte, error) {
	start, end, err := m.find(source)
	if err != nil {
		return nil, err
	}

	code := string(source[start:end])
	var other string
	switch m.rule {
	case "never":
		other = "false && (" + code + ")"
	case "always":
		other = "true || (" + code + ")"
	case "replace":
		other = strings.TrimPrefix(m.other, " ")
	default:
		return nil, fmt.Errorf("there is no rule %q", m.rule)
	}
	return slices.Concat(source[:start], []byte(other), source[end:]), nil
}

// find returns where the code begins and ends in the source.
func (m mutation) find(source []byte) (start, end int, err error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, m.file, source, parser.SkipObjectResolution)
	if err != nil {
		return 0, 0, err
	}

	want := tokens([]byte(m.code))
	found := 0
	for _, decl := range tree.Decls {
		if functionName(decl, source, fset) != m.function {
			continue
		}

		from := fset.Position(decl.Pos()).Offset
		to := fset.Position(decl.End()).Offset
		have := tokens(source[from:to])
		for i := range have {
			if len(have)-i < len(want) || !slices.EqualFunc(have[i:i+len(want)], want, sameToken) {
				continue
			}
			found++
			start = from + have[i].offset
			last := have[i+len(want)-1]
			end = from + last.offset + len(last.text)
		}
	}

	if found != 1 {
		return 0, 0, fmt.Errorf("%s of %s has %q %d times, and has to have it once", m.function, m.file, m.code, found)
	}
	return start, end, nil
}

// functionName returns "name" or "(receiver).name" for a function, and "var" for all other declarations.
func functionName(decl ast.Decl, source []byte, fset *token.FileSet) string {
	fn, ok := decl.(*ast.FuncDecl)
	if !ok {
		return "var"
	}
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}

	receiver := fn.Recv.List[0].Type
	from := fset.Position(receiver.Pos()).Offset
	to := fset.Position(receiver.End()).Offset
	return "(" + string(source[from:to]) + ")." + fn.Name.Name
}

// sourceToken is a token as it is written, and where.
type sourceToken struct {
	text   string
	offset int
}

func sameToken(a, b sourceToken) bool { return a.text == b.text }

// tokens splits code into its tokens. Semicolons that stand for the end of a line are left out.
func tokens(code []byte) (all []sourceToken) {
	file := token.NewFileSet().AddFile("", -1, len(code))
	var s scanner.Scanner
	s.Init(file, code, func(token.Position, string) {}, 0) // a piece of code may end within a string

	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return all
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue
		}

		text := literal
		if tok.IsOperator() {
			text = tok.String()
		}
		all = append(all, sourceToken{text: text, offset: file.Offset(pos)})
	}
}
