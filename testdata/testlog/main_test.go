package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	for _, c := range []struct {
		events, allowed, want string
		good                  bool
	}{
		{events, ". TestSkips only root can", "    a_test.go:3: wrong\nok  ." + strings.Repeat(" ", 59) + "     1.5s\nskipped: only root can\n    . TestSkips/one\n", false},
		{strings.Join(strings.SplitAfter(events, "\n")[5:], ""), ". TestSkips only root can", "TestSkips/one\n", true},
		{strings.Join(strings.SplitAfter(events, "\n")[5:], ""), "# nothing\n", "not on the list", false},
		{strings.Join(strings.SplitAfter(events, "\n")[5:], ""), "reason only root\n", "TestSkips/one\n", true},
		{strings.Join(strings.SplitAfter(events, "\n")[5:], ""), "reason root\n", "not on the list", false},
	} {
		file := filepath.Join(t.TempDir(), "skips")
		if err := os.WriteFile(file, []byte(c.allowed), 0o600); err != nil {
			t.Fatal(err)
		}
		allowed, err := readAllowed(file)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		log := newTestLog("example.com/m", &out)
		if err := log.read(strings.NewReader(c.events)); err != nil {
			t.Fatal(err)
		}
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
	if err := newTestLog("example.com/m", &out).read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	if want := "a: WARNING: DATA RACE\nWrite at 0x00c0\n"; out.String() != want {
		t.Errorf("got %q, want %q", &out, want)
	}
}
