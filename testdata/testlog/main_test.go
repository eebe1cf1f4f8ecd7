package main

import (
	"path/filepath"
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
