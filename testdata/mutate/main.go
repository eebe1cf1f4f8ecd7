// Command mutate changes lines that matter for security, one at a time, and runs the tests that
// should fail. It prints changes that survive, unless list.txt has a reason.
//
//	go run ./testdata/mutate              # all of list.txt, an hour of processor time
//	go run ./testdata/mutate receipt      # those whose file or text has one of these words
//	go run ./testdata/mutate -check       # only whether each line is in its file once
//	go run ./testdata/mutate -random=100 -seed=COMMIT
//
// The last one makes 100 random changes by rule: it negates a condition, drops a call's
// error, swaps two arguments or moves a bound by one. explained.txt has the reasons why changes may survive.
//
// The files themselves aren't changed: go test -overlay compiles others in their place.
//
// In list.txt, "test PACKAGE TESTS" names the tests for the mutations that follow, and "file PATH" their
// file. A mutation is "- OLD", a part of one line, and "+ NEW" below it; "= REASON" says why it may
// survive.
package main

import (
	"bytes"
	"cmp"
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
	reason          string // why it may survive; "" if it may not
}

func main() {
	check := flag.Bool("check", false, "only compare the list with the files, or print the random changes")
	from := flag.Int("from", 0, "begin at this line of the list, or at this random change")
	to := flag.Int("to", 1<<20, "end before this line of the list, or before this random change")
	changes := flag.Int("random", 0, "make so many changes by rule in place of the list")
	seed := flag.String("seed", "HEAD", "the commit whose hash decides which random changes are made")
	flag.Parse()
	list, err := read(filepath.Join("testdata", "mutate", "list.txt"))
	if err == nil {
		err = compare(list)
	}
	explained, explainedErr := readExplained(filepath.Join("testdata", "mutate", "explained.txt"))
	if explainedErr == nil {
		explainedErr = compareExplained(explained)
	}
	err = errors.Join(err, explainedErr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if *check && *changes == 0 {
		fmt.Printf("%d mutations, each of which is at one place\n", len(list))
		return
	}
	named := func(text string) bool {
		return flag.NArg() == 0 || slices.ContainsFunc(flag.Args(), func(word string) bool { return strings.Contains(text, word) })
	}
	survivors := 0
	if *changes > 0 {
		list = nil
		if survivors, err = random(*changes, *seed, *check, *from, *to, named, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	for _, m := range list {
		if m.line < *from || m.line >= *to || !named(m.file+" "+m.old) {
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

// compare finds mutations whose text isn't in the file exactly once.
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

// run runs the tests with the mutation, and returns the result.
func (m mutation) run() (string, error) {
	content, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	return goTest(m.file, bytes.Replace(content, []byte(m.old), []byte(m.text), 1), "-timeout=5m", "-run="+m.tests, m.pkg)
}

// goTest runs tests with other content of a file.
func goTest(file string, content []byte, arguments ...string) (string, error) {
	temporary, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temporary)
	changed, overlay := filepath.Join(temporary, "changed.go"), filepath.Join(temporary, "overlay.json")
	original, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err == nil {
		err = os.WriteFile(changed, content, 0o600)
	}
	if err == nil {
		err = os.WriteFile(overlay, replace, 0o600)
	}
	if err != nil {
		return "", err
	}
	command := append([]string{"go", "test", "-vet=off", "-count=1", "-failfast"}, arguments...)
	if nice, err := exec.LookPath("nice"); err == nil {
		command = append([]string{nice}, command...)
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay)
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil && strings.Contains(string(out), "no tests to run"):
		return "NO TESTS", nil
	case err == nil:
		return survived, nil
	case strings.Contains(string(out), "[build failed]"):
		return "", fmt.Errorf("DOES NOT BUILD: %s", out)
	}
	// With the test's name one sees whether it failed for another reason, such as a busy machine.
	_, by, _ := strings.Cut(string(out), "--- FAIL: ")
	by, _, _ = strings.Cut(by, " ")
	return "killed by " + cmp.Or(by, "the end of a process"), nil
}
