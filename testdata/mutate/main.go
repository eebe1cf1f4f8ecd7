// Command mutate changes lines on which security rests, one at a time, and runs the tests that
// should notice. What no test notices is printed, unless list.txt says why it may be so.
//
//	go run ./testdata/mutate              # all of list.txt, an hour of processor time
//	go run ./testdata/mutate receipt      # those whose file or text has one of these words
//	go run ./testdata/mutate -check       # only whether each line is in its file once
//
// The files themselves stay as they are: go test -overlay compiles others in their place.
//
// In list.txt, "test PACKAGE TESTS" says what is run for what follows, and "file PATH" what is
// changed. A mutation is "- OLD", a part of one line, and "+ NEW" below it; "= REASON" says why no
// test has to notice it.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

type mutation struct {
	line            int // in the list
	pkg, tests      string
	file, old, text string // text takes the place of old
	reason          string // why it may survive; "": it may not
}

func main() {
	check := flag.Bool("check", false, "only compare the list with the files")
	from := flag.Int("from", 0, "begin at this line of the list")
	to := flag.Int("to", 1<<20, "end before this line of the list")
	flag.Parse()
	list, err := read(filepath.Join("testdata", "mutate", "list.txt"))
	if err == nil {
		err = compare(list)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if *check {
		fmt.Printf("%d mutations, each of which is at one place\n", len(list))
		return
	}
	survivors := 0
	for _, m := range list {
		named := func(word string) bool { return strings.Contains(m.file+" "+m.old, word) }
		if m.line < *from || m.line >= *to || flag.NArg() > 0 && !slices.ContainsFunc(flag.Args(), named) {
			continue
		}
		result, err := m.run()
		switch {
		case err != nil:
			result = err.Error()
			survivors++
		case result == survived && m.reason != "":
			result = "survived, as it may: " + m.reason
		case result == survived:
			survivors++
		}
		fmt.Printf("%s: list.txt:%d: %s: %s\n", result, m.line, m.file, m.text)
	}
	if survivors > 0 {
		fmt.Printf("%d survivors\n", survivors)
		os.Exit(1)
	}
}

// read reads the list.
func read(name string) (list []mutation, err error) {
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
			now.old, now.line = rest, i+1
		case "+":
			now.text = rest
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

// compare finds mutations of text that is in its file never, or more than once.
func compare(list []mutation) error {
	var errs []error
	for _, m := range list {
		content, err := os.ReadFile(m.file)
		if err != nil {
			errs = append(errs, fmt.Errorf("list.txt:%d: %w", m.line, err))
			continue
		}
		if found := bytes.Count(content, []byte(m.old)); found != 1 || m.old == m.text {
			errs = append(errs, fmt.Errorf("list.txt:%d: %q is in %s %d times, and has to be there once and to change", m.line, m.old, m.file, found))
		}
	}
	return errors.Join(errs...)
}

const survived = "SURVIVED"

// run says what became of the mutation.
func (m mutation) run() (string, error) {
	temporary, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temporary)
	content, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	changed, overlay := filepath.Join(temporary, "changed.go"), filepath.Join(temporary, "overlay.json")
	original, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err == nil {
		err = os.WriteFile(changed, bytes.Replace(content, []byte(m.old), []byte(m.text), 1), 0o600)
	}
	if err == nil {
		err = os.WriteFile(overlay, replace, 0o600)
	}
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "test", "-vet=off", "-overlay="+overlay, "-count=1", "-failfast", "-timeout=5m", "-run="+m.tests, m.pkg)
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil && strings.Contains(string(out), "no tests to run"):
		return "NO TESTS", nil
	case err == nil:
		return survived, nil
	case strings.Contains(string(out), "[build failed]"):
		return "", fmt.Errorf("DOES NOT BUILD: %s", out)
	}
	return "killed", nil
}
