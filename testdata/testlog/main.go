// Command testlog reads the output of "go test -json" from stdin,
// and prints a summary for people: a line for each package, the output of failed tests,
// and the skipped tests with their reasons. The exit code is 1 if a test
// failed, or if a test was skipped that the file of -skips doesn't list.
//
// The lines of that file are of two forms:
//
//	DIRECTORY TestName  why it may be skipped
//	reason REGEXP
//
// The first is for a test with its subtests; the second is for all tests whose reason matches.
// Blank lines and lines that begin with "#" are ignored. Without -skips, any test may be skipped.
//
// With -excepted, whose file has such lines, each test in the source of the packages has to pass or to be listed,
// also if a build constraint excludes it. A test whose subtests are all skipped doesn't count as passed, unless each is listed
// (TestName/subtest). If some subtests have passed, the reasons of the others may be listed instead. A test that is skipped for a listed reason counts
// as excepted. The last line has the numbers of tests.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	skips := flag.String("skips", "", "the file that lists the tests that may be skipped")
	excepted := flag.String("excepted", "", "the file that lists the tests that needn't pass; all others of the packages have to")
	module := flag.String("module", "github.com/tfdeps/tfdeps", "the module whose packages are tested")
	flag.Parse()
	allowed, err := readAllowed(*skips)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	exceptions, err := readAllowed(*excepted)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	log := newTestLog(*module, os.Stdout)
	log.excepted = exceptions.tests
	if err := log.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	good := log.conclude(allowed)
	if *excepted != "" {
		good = log.count(".", exceptions) && good
	}
	if !good {
		os.Exit(1)
	}
}

// testID is a test of a package.
type testID struct{ dir, name string }

// top is the test that a subtest belongs to.
func (t testID) top() testID {
	name, _, _ := strings.Cut(t.name, "/")
	return testID{t.dir, name}
}

// allowance lists the tests that may be skipped.
type allowance struct {
	all     bool
	tests   map[testID]bool
	reasons []*regexp.Regexp
}

func (a allowance) permits(id testID, reason string) bool {
	return a.all || a.tests[id.top()] || slices.ContainsFunc(a.reasons, func(r *regexp.Regexp) bool { return r.MatchString(reason) })
}

// permitsSubtest reports whether the subtest itself, or one above it, is listed.
func (a allowance) permitsSubtest(id testID) bool {
	for name := id.name; strings.Contains(name, "/"); name = name[:strings.LastIndexByte(name, '/')] {
		if a.tests[testID{id.dir, name}] {
			return true
		}
	}
	return false
}

func readAllowed(name string) (allowance, error) {
	allowed := allowance{all: name == "", tests: map[testID]bool{}}
	if allowed.all {
		return allowed, nil
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return allowance{}, err
	}
	for i, line := range strings.Split(string(content), "\n") {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || strings.HasPrefix(fields[0], "#"):
		case fields[0] == "reason":
			reason, err := regexp.Compile("^" + strings.TrimSpace(strings.TrimPrefix(line, "reason")))
			if err != nil {
				return allowance{}, fmt.Errorf("%s:%d: %w", name, i+1, err)
			}
			allowed.reasons = append(allowed.reasons, reason)
		case len(fields) < 3:
			return allowance{}, fmt.Errorf("%s:%d: there must be a directory, a test and a reason", name, i+1)
		default:
			allowed.tests[testID{fields[0], fields[1]}] = true
		}
	}
	return allowed, nil
}

// testEvent is a line of "go test -json", as "go doc cmd/test2json" describes it.
type testEvent struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// testLog collects events.
type testLog struct {
	module  string
	out     io.Writer
	output  map[testID][]string // output of tests that haven't ended
	skipped map[string][]string // by reason
	ids     map[string]testID   // skipped tests, by the names that are printed
	races   map[string]string   // by directory: the incomplete report of the race detector
	passed  map[testID]bool     // without subtests
	some    map[testID]bool     // tests with a passed subtest
	dirs    map[string]bool     // the directories of tested packages
	failed  bool

	excepted map[testID]bool // tests that may fail, without subtests
	excused  map[string]bool // packages in which one of these has failed
}

func newTestLog(module string, out io.Writer) *testLog {
	return &testLog{module: module, out: out, output: map[testID][]string{}, skipped: map[string][]string{}, ids: map[string]testID{}, races: map[string]string{}, passed: map[testID]bool{}, some: map[testID]bool{}, dirs: map[string]bool{}, excused: map[string]bool{}}
}

func (l *testLog) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event testEvent
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			fmt.Fprintln(l.out, lines.Text()) // such as output of the build
			continue
		}
		l.add(event)
	}
	return lines.Err()
}

func (l *testLog) add(event testEvent) {
	dir := strings.TrimPrefix(strings.TrimPrefix(event.Package, l.module), "/")
	if dir == "" {
		dir = "."
	}
	id := testID{dir, event.Test}
	l.dirs[dir] = l.dirs[dir] || event.Package != ""
	switch event.Action {
	case "output":
		l.output[id] = append(l.output[id], event.Output)
		l.race(dir, event.Output)
	case "build-output":
		fmt.Fprint(l.out, event.Output)
	case "build-fail":
		l.failed = true
	case "skip":
		if event.Test != "" {
			name := dir + " " + event.Test
			reason := reasonOf(l.output[id])
			l.skipped[reason] = append(l.skipped[reason], name)
			l.ids[name] = id
		}
		delete(l.output, id)
	case "fail":
		l.excused[dir] = l.excused[dir] || l.excepted[id.top()]
		l.failed = l.failed || !l.excepted[id.top()] && (event.Test != "" || !l.excused[dir])
		for _, line := range l.output[id] {
			fmt.Fprint(l.out, line)
		}
		delete(l.output, id)
	case "pass":
		if event.Test == "" {
			fmt.Fprintf(l.out, "ok  %-60s %7.1fs\n", dir, event.Elapsed)
		} else if id == id.top() {
			l.passed[id] = true
		} else {
			l.some[id.top()] = true
		}
		delete(l.output, id)
	}
}

// race prints the reports of the race detector, because go test adds them to the output
// of any running test, which may pass.
func (l *testLog) race(dir, line string) {
	report, begun := l.races[dir]
	switch {
	case strings.HasPrefix(line, "WARNING: DATA RACE"):
		l.races[dir] = dir + ": " + line
	case begun && strings.HasPrefix(line, "====="):
		fmt.Fprint(l.out, report)
		delete(l.races, dir)
	case begun:
		l.races[dir] = report + line
	}
}

// reasonOf returns the last line that a test printed before it was skipped, without file and
// line. Lines with a file and line are preferred, because a server of the test may log something at any time.
func reasonOf(output []string) string {
	reason := "no reason is given"
	placed := false
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "--- SKIP") || strings.HasPrefix(line, "===") || strings.HasPrefix(line, "testscript.go:") {
			continue
		}
		_, after, isPlace := strings.Cut(line, ".go:")
		if _, words, ok := strings.Cut(after, ": "); isPlace && ok {
			reason, placed = words, true
		} else if !isPlace && !placed {
			reason = line
		}
	}
	return reason
}

// maxNames is the maximum number of printed names of tests that were skipped for the same permitted
// reason.
const maxNames = 20

// conclude prints the skipped tests, and reports whether no test failed or was skipped without permission.
func (l *testLog) conclude(allowed allowance) bool {
	good := !l.failed
	for _, reason := range slices.Sorted(maps.Keys(l.skipped)) {
		fmt.Fprintf(l.out, "skipped: %s\n", reason)
		slices.Sort(l.skipped[reason])
		for i, name := range l.skipped[reason] {
			mark := ""
			if !allowed.permits(l.ids[name], reason) {
				mark, good = "  (not on the list of tests that may be skipped)", false
			}
			if mark != "" || i < maxNames {
				fmt.Fprintf(l.out, "    %s%s\n", name, mark)
			}
		}
		if more := len(l.skipped[reason]) - maxNames; more > 0 {
			fmt.Fprintf(l.out, "    and %d more\n", more)
		}
	}
	return good
}

var testFunction = regexp.MustCompile(`(?m)^func (Test[^a-z\W]\w*)\(\w+ \*testing\.T\)`)

// count compares the tests in the source of the packages, below root, with the results. It prints tests that neither passed nor
// are excepted, tests that are both, and the numbers. It reports whether all tests are one or the other.
func (l *testLog) count(root string, excepted allowance) (good bool) {
	good = true
	passed, listed, other, subtests := 0, 0, 0, 0
	waived := maps.Clone(excepted.tests)
	for _, reason := range slices.Sorted(maps.Keys(l.skipped)) {
		for _, name := range l.skipped[reason] {
			id := l.ids[name]
			switch {
			case id == id.top():
				waived[id] = waived[id] || allowance{reasons: excepted.reasons}.permits(id, reason)
			case excepted.permitsSubtest(id):
				subtests++
			case !l.some[id.top()]:
				delete(l.passed, id.top())
			case allowance{reasons: excepted.reasons}.permits(id, reason):
				subtests++
			default:
				good = false
				fmt.Fprintf(l.out, "%s: skipped, and not listed: %s\n", name, reason)
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(l.dirs)) {
		files, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*_test.go"))
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				fmt.Fprintln(l.out, err)
				good = false
			}
			for _, match := range testFunction.FindAllSubmatch(source, -1) {
				id := testID{dir, string(match[1])}
				switch {
				case l.passed[id]:
					passed++
				case waived[id]:
					listed++
				default:
					other++
				}
				if l.passed[id] == waived[id] {
					good = false
					fmt.Fprintf(l.out, "%s %s: passed: %t, excepted: %t\n", dir, id.name, l.passed[id], waived[id])
				}
			}
		}
	}
	fmt.Fprintf(l.out, "%d tests: %d passed, of which %d subtests are skipped, %d are excepted, %d didn't pass\n", passed+listed+other, passed, subtests, listed, other)
	return good
}
