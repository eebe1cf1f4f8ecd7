package main

import (
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestTestLog_ListsFailuresAndSkips(t *testing.T) {
	const events = `{"Action":"output","Package":"example.com/m/a","Test":"TestFails","Output":"    a_test.go:3: wrong\n"}
{"Action":"fail","Package":"example.com/m/a","Test":"TestFails"}
{"Action":"output","Package":"example.com/m/a","Test":"TestPasses","Output":"a word\n"}
{"Action":"pass","Package":"example.com/m/a","Test":"TestPasses"}
{"Action":"fail","Package":"example.com/m/a"}
{"Action":"output","Package":"example.com/m","Test":"TestSkips/one","Output":"    x_test.go:7: only root can\n"}
{"Action":"output","Package":"example.com/m","Test":"TestSkips/one","Output":"    y.go:609: \n"}
{"Action":"output","Package":"example.com/m","Test":"TestSkips/one","Output":"2026/11/26 00:14:27 http: TLS handshake error\n"}
{"Action":"output","Package":"example.com/m","Test":"TestSkips/one","Output":"    --- SKIP: TestSkips/one (0.00s)\n"}
{"Action":"skip","Package":"example.com/m","Test":"TestSkips/one"}
{"Action":"pass","Package":"example.com/m","Elapsed":1.5}
`
	skips := strings.Join(strings.SplitAfter(events, "\n")[5:], "")
	for _, c := range []struct {
		events, allowed, want string
		good                  bool
	}{
		{events, ". TestSkips only root can", "    a_test.go:3: wrong\nok  ." + strings.Repeat(" ", 59) + "     1.5s\nskipped: only root can\n    . TestSkips/one\n", false},
		{skips, ". TestSkips only root can", "TestSkips/one\n", true},
		{skips, "# nothing\n", "not on the list", false},
		{skips, "reason only root\n", "TestSkips/one\n", true},
		{skips, "reason root\n", "not on the list", false},
	} {
		file := filepath.Join(t.TempDir(), "skips")
		must.Write(t, file, c.allowed)
		allowed := must.Get(readAllowed(file))(t)
		var out strings.Builder
		log := newTestLog("example.com/m", &out)
		must.Succeed(t, log.read(strings.NewReader(c.events)))
		if good := log.conclude(allowed); good != c.good || !strings.Contains(out.String(), c.want) {
			t.Errorf("%v\n%s", good, out.String())
		}
	}
}

func TestTestLog_PrintsRacesOfTestsThatPass(t *testing.T) {
	const events = `{"Action":"output","Package":"example.com/m/a","Test":"TestPasses","Output":"==================\n"}
{"Action":"output","Package":"example.com/m/a","Test":"TestPasses","Output":"WARNING: DATA RACE\n"}
{"Action":"output","Package":"example.com/m/a","Test":"TestPasses","Output":"Write at 0x00c0\n"}
{"Action":"output","Package":"example.com/m/a","Test":"TestPasses","Output":"==================\n"}
{"Action":"output","Package":"example.com/m/a","Test":"TestPasses","Output":"a word\n"}
{"Action":"pass","Package":"example.com/m/a","Test":"TestPasses"}
`
	var out strings.Builder
	must.Succeed(t, newTestLog("example.com/m", &out).read(strings.NewReader(events)))
	must.Equal(t, out.String(), "a: WARNING: DATA RACE\nWrite at 0x00c0\n")
}

// A test for another system, or one that was skipped, counts as not passed.
func TestTestLog_CountsWhatStandsInTheSource(t *testing.T) {
	const events = `{"Action":"pass","Package":"example.com/m/a","Test":"TestPasses"}
{"Action":"pass","Package":"example.com/m/a","Test":"TestPasses/case"}
{"Action":"output","Package":"example.com/m/a","Test":"TestSkips","Output":"    x_test.go:7: not here\n"}
{"Action":"skip","Package":"example.com/m/a","Test":"TestSkips"}
{"Action":"pass","Package":"example.com/m/a","Test":"TestPart/here"}
{"Action":"output","Package":"example.com/m/a","Test":"TestPart/there","Output":"    x_test.go:7: no links\n"}
{"Action":"output","Package":"example.com/m/a","Test":"TestPart/there","Output":"    testscript.go:609: work=$WORK\n"}
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

// Only listed tests may fail, and a package may only fail because of them.
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
