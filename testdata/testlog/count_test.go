package main

import (
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// A test that was built for another system, or that was skipped, counts as one that didn't pass.
func TestTestLog_CountsWhatStandsInTheSource(t *testing.T) {
	const events = `{"Action":"pass","Package":"example.com/m/a","Test":"TestPasses"}
{"Action":"pass","Package":"example.com/m/a","Test":"TestPasses/case"}
{"Action":"output","Package":"example.com/m/a","Test":"TestSkips","Output":"    x_test.go:7: not here\n"}
{"Action":"skip","Package":"example.com/m/a","Test":"TestSkips"}
{"Action":"pass","Package":"example.com/m/a","Test":"TestPart/here"}
{"Action":"output","Package":"example.com/m/a","Test":"TestPart/there","Output":"    x_test.go:7: no links\n"}
{"Action":"skip","Package":"example.com/m/a","Test":"TestPart/there"}
{"Action":"pass","Package":"example.com/m/a","Test":"TestPart"}
{"Action":"skip","Package":"example.com/m/a","Test":"TestNone/there"}
{"Action":"pass","Package":"example.com/m/a","Test":"TestNone"}
{"Action":"pass","Package":"example.com/m/a"}
`
	root := t.TempDir()
	for name, source := range map[string]string{
		"a/a_test.go":       "package a\n\nfunc TestPasses(t *testing.T) {}\n\nfunc TestSkips(t *testing.T) {}\n\nfunc TestPart(t *testing.T) {}\n\nfunc TestNone(t *testing.T) {}\n\nfunc TestMain(m *testing.M) {}\n",
		"a/a_linux_test.go": "package a\n\nfunc TestOnLinux(t *testing.T) {}\n\nfunc Testify(t *testing.T) {}\n",
		"b/b_test.go":       "package b\n\nfunc TestElsewhere(t *testing.T) {}\n",
	} {
		must.Write(t, filepath.Join(root, filepath.FromSlash(name)), source)
	}
	for _, c := range []struct {
		excepted []string
		want     string // in the output
		good     bool
	}{
		{[]string{"TestSkips", "TestOnLinux", "TestNone", "TestPart/there"}, "5 tests: 2 passed, of which 1 subtests are skipped, 3 are excepted, 0 didn't pass\n", true},
		{[]string{"TestSkips", "TestOnLinux", "TestNone"}, "a TestPart/there: skipped, and not listed: no links\n", false},
		{[]string{"TestSkips", "TestOnLinux", "TestPart/there"}, "a TestNone: passed: false, excepted: false\n", false},
		{[]string{"TestSkips", "TestNone", "TestPart/there"}, "5 tests: 2 passed, of which 1 subtests are skipped, 2 are excepted, 1 didn't pass\n", false},
		{[]string{"TestOnLinux", "TestNone", "TestPart/there", "not here"}, "5 tests: 2 passed, of which 1 subtests are skipped, 3 are excepted, 0 didn't pass\n", true},
		{[]string{"TestSkips", "TestOnLinux", "TestPasses", "TestNone", "TestPart/there"}, "a TestPasses: passed: true, excepted: true\n", false},
	} {
		excepted := allowance{tests: map[testID]bool{}}
		for _, name := range c.excepted {
			if !strings.HasPrefix(name, "Test") {
				excepted.reasons = append(excepted.reasons, regexp.MustCompile(name))
			}
			excepted.tests[testID{"a", name}] = true
		}
		var out strings.Builder
		log := newTestLog("example.com/m", &out)
		must.Succeed(t, log.read(strings.NewReader(events)))
		if good := log.count(root, excepted); good != c.good || !strings.Contains(out.String(), c.want) {
			t.Errorf("%v: %v\n%s", c.excepted, good, out.String())
		}
	}
}

// Of the tests, only those that are listed may fail. A package may fail for them alone.
func TestTestLog_ListedTestsMayFail(t *testing.T) {
	const (
		ofPackage = `{"Action":"fail","Package":"example.com/m/a"}`
		ofTest    = `{"Action":"fail","Package":"example.com/m/a","Test":"TestFails/case"}` + "\n" + `{"Action":"fail","Package":"example.com/m/a","Test":"TestFails"}` + "\n"
	)
	for _, c := range []struct {
		events, listed string
		good           bool
	}{
		{ofTest + ofPackage, "TestFails", true}, {ofTest + ofPackage, "TestOther", false}, {ofPackage, "TestFails", false},
	} {
		log := newTestLog("example.com/m", io.Discard)
		log.excepted = map[testID]bool{{"a", c.listed}: true}
		must.Succeed(t, log.read(strings.NewReader(c.events)))
		if good := log.conclude(allowance{all: true}); good != c.good {
			t.Errorf("%v: %t", c, good)
		}
	}
}
