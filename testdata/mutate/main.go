// Command mutate changes code that matters for security, one place at a time, and runs the tests that
// should fail. It prints changes that survive, unless list.txt has a reason.
//
//	go run ./testdata/mutate              # all of list.txt, an hour of processor time
//	go run ./testdata/mutate receipt      # those whose file or text has one of these words
//	go run ./testdata/mutate -check       # only whether each place of the lists is found once
//	go run ./testdata/mutate -random=100 -seed=COMMIT
//
// The last one makes 100 random changes by rule: it negates a condition, drops a call's
// error, swaps two arguments or moves a bound by one. explained.txt has the reasons why changes may survive.
//
// The files themselves aren't changed: go test -overlay compiles others in their place.
package main

import (
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

func main() {
	check := flag.Bool("check", false, "only compare the list with the files, or print the random changes")
	from := flag.Int("from", 0, "begin at this line of the list, or at this random change")
	to := flag.Int("to", 1<<20, "end before this line of the list, or before this random change")
	changes := flag.Int("random", 0, "make so many changes by rule in place of the list")
	seed := flag.String("seed", "HEAD", "the commit whose hash decides which random changes are made")
	flag.Parse()
	list, err := readList(filepath.Join("testdata", "mutate", "list.txt"))
	if err == nil {
		err = checkList(list)
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
		if m.line < *from || m.line >= *to || !named(m.file+" "+m.function+" "+m.code) {
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
		fmt.Printf("%s: list.txt:%d: %s: %s: %s %s\n", result, m.line, m.file, m.function, m.rule, m.code)
	}
	if survivors > 0 {
		fmt.Printf("%d survivors\n", survivors)
		os.Exit(1)
	}
}

const survived = "SURVIVED"

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
