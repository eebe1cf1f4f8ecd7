package view

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/view/screentest"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// shownActivity returns an Activity on a new terminal.
func shownActivity(clock *watch, change func(*Options)) (*Activity, *screentest.Terminal) {
	m := screentest.New(100, 30)
	o := Options{
		Names: asTerraform, Now: clock.now, Platforms: true,
		Stderr: terminal.Stream{Writer: m, Terminal: true, Width: 100, Height: 30, Color: true},
	}
	o.Stdout = o.Stderr
	if change != nil {
		change(&o)
	}
	return NewActivity(o), m
}

var plan9 = getproviders.Platform{OS: "plan9", Arch: "arm"}

// phases sends events of all phases of packages.
func phases(a *Activity, clock *watch) {
	a.Observe(event.Event{Kind: event.Queued, Sizes: map[string]int64{"/a": 40 * mb, "/b": 60 * mb, "/c": 100 * mb}})
	a.Observe(on(event.Hashing, alpha, v1, plan9, "/a"))
	a.Observe(on(event.Hashing, beta, v1, plan9, "/b"))
	clock.Advance(2 * time.Second)
	a.Observe(on(event.Hashed, alpha, v1, plan9, "/a"))
	clock.Advance(2 * time.Second)
	a.Observe(on(event.Hashing, gamma, v1, plan9, "/c"))
	clock.Advance(time.Second)
	a.Observe(on(event.Begun, gamma, v1, plan9, event.Linking, "/c"))
}

func TestActivity_NamesPhases(t *testing.T) {
	clock := newWatch()
	a, screen := shownActivity(clock, nil)
	phases(a, clock)
	want := `example.com/acme/beta v1.2.3 for plan9_arm                                60 MB  hashing  5s
example.com/acme/gamma v1.2.3 for plan9_arm                              100 MB  linking  1s
Total: 1 of 3                                [====>----------------]  40/200 MB  20s left  8.0 MB/s`
	must.Equal(t, screen.Text(), want)
	a.Close()
	must.Equal(t, screen.Text(), "")
}

func TestActivity_NamesPhasesInLines(t *testing.T) {
	clock := newWatch()
	a, screen := shownActivity(clock, func(o *Options) { o.Progress = ProgressPlain })
	phases(a, clock)
	clock.Advance(8 * time.Second)
	a.Observe(on(event.Begun, gamma, v1, plan9, event.Linking, "/c"))
	want := "Still hashing example.com/acme/beta v1.2.3 for plan9_arm (13s); linking example.com/acme/gamma v1.2.3 for plan9_arm (8s)"
	must.Equal(t, strings.ReplaceAll(screen.Text(), "\n", ""), want)
}

func TestActivity_ShowsHowMuchIsVerified(t *testing.T) {
	for mode, want := range map[Progress]string{
		ProgressTTY: `example.com/acme/alpha v1.2.3 for plan9_arm  [=========>-----]   24/40 MB  hashing  1s left  12 MB/s
example.com/acme/beta v1.2.3 for plan9_arm                          60 MB  hashing  2s
Total: 0 of 2                                [===>-----------]  24/100 MB  6s left  12 MB/s`,
		ProgressPlain: "Still hashing example.com/acme/alpha v1.2.3 for plan9_arm: 24 MB of 40 MB (60%), 2.0 MB/s, 8s left; example.com/acme/beta v1.2.3 for plan9_arm (12s)",
	} {
		clock := newWatch()
		a, screen := shownActivity(clock, func(o *Options) { o.Progress, o.Stderr.Width = mode, 101 })
		read := func(dir string, done int64) {
			a.Observe(on(event.HashProgress, alpha, v1, plan9, dir, [2]int64{done}))
		}
		a.Observe(event.Event{Kind: event.Queued, Sizes: map[string]int64{"/a": 40 * mb, "/b": 60 * mb}})
		a.Observe(on(event.Hashing, alpha, v1, plan9, "/a"))
		a.Observe(on(event.Hashing, beta, v1, plan9, "/b"))
		read("/elsewhere", 50*mb)
		read("/a", 0)
		if clock.Advance(2 * time.Second); mode == ProgressPlain {
			clock.Advance(10 * time.Second)
		}
		read("/a", 24*mb)
		if got := screen.Text(); got != want && strings.NewReplacer(";\n", "; ", "\n", "").Replace(got) != want {
			t.Errorf("the screen is\n%s\nwant\n%s", got, want)
		}
		a.Close()
	}
}

// When all bytes have arrived, the time left is unknown; and a damaged package is
// downloaded from the beginning.
func TestActivity_NamesThePhaseOfAll(t *testing.T) {
	clock := newWatch()
	a, screen := shownActivity(clock, nil)
	a.Observe(on(event.Hashing, alpha, v1, "/a"))
	a.Observe(on(event.HashProgress, alpha, v1, "/a", [2]int64{30 * mb}))
	clock.Advance(2 * time.Second)
	a.Observe(on(event.HashProgress, alpha, v1, "/a", [2]int64{90 * mb}))
	for _, p := range []getproviders.Provider{alpha, beta} {
		a.Observe(came(p, 0, 10*mb))
		clock.Advance(2 * time.Second)
		a.Observe(came(p, 10*mb, 10*mb))
		a.Observe(on(event.Begun, p, v1, event.Unpacking))
	}
	want := `example.com/acme/beta v1.2.3   [==============================]     10 MB  unpacking  1s
example.com/acme/alpha v1.2.3  [==============================]     10 MB  unpacking  2s
Total: 0 of 2                  [==============================]  20/20 MB  unpacking`
	must.Equal(t, screen.Text(), want)
	a.Observe(installed(alpha))
	must.Contain(t, screen.Text(), "Downloaded example.com/acme/alpha v1.2.3: 10 MB in")
}

func TestActivity_SumsUpManyInOneLine(t *testing.T) {
	clock := newWatch()
	a, screen := shownActivity(clock, func(o *Options) { o.Progress = ProgressPlain; o.Stderr.Width = 200 })
	for i := range 5 {
		p := acme(string(rune('a' + i)))
		a.Observe(begin(p, "https://example.com/a.zip", "example.com"))
		clock.download(a, p, 10*mb, 100*mb)
	}
	clock.Advance(6 * time.Second)
	a.Observe(came(acme("a"), 40*mb, 100*mb))
	if got, want := screen.Text(), "Still working on 5 packages, 0 of 5 are done: 80 MB of 500 MB (16%), 6.2 MB/s, 1m7s left"; !strings.HasSuffix(strings.ReplaceAll(got, "\n", ""), want) {
		t.Errorf("the lines are\n%s\nwant at their end\n%s", got, want)
	}
}

// A download without new bytes is "waiting", even if a part of the archive was kept by an earlier run.
func TestActivity_TellsOfWaiting(t *testing.T) {
	for had, want := range map[int64]string{
		0:       "example.com/acme/alpha v1.2.3  [>-----------------------------]  0/157 MB  waiting  9s",
		20 * mb: "example.com/acme/alpha v1.2.3  [===>--------------------------]  20/157 MB  waiting  9s",
	} {
		clock := newWatch()
		a, screen := shownActivity(clock, func(*Options) {})
		a.Observe(came(alpha, had, 157*mb))
		clock.Advance(9 * time.Second)
		a.Observe(came(alpha, had, 157*mb))
		must.Equal(t, screen.Text(), want)
	}
}

func TestActivity_TellsOfStalls(t *testing.T) {
	for mode, want := range map[Progress]string{
		ProgressTTY:   "example.com/acme/alpha v1.2.3  [===>--------------------------]  20/157 MB  no data for 9s",
		ProgressPlain: "Downloading example.com/acme/alpha v1.2.3 (157 MB)...\nStill downloading example.com/acme/alpha v1.2.3: 20 MB of 157 MB (13%), no data for 9s",
	} {
		clock := newWatch()
		a, screen := shownActivity(clock, func(o *Options) { o.Progress = mode })
		clock.download(a, alpha, 20*mb, 157*mb)
		clock.Advance(9 * time.Second)
		a.Observe(came(alpha, 20*mb, 157*mb))
		must.Equal(t, screen.Text(), want)
	}
}

func TestActivity_TellsOfRetriesInTerminals(t *testing.T) {
	retry := hosts.Retry{Host: "registry.example.com", Attempt: 2, Attempts: 3, Wait: 4 * time.Second, Reason: "timeout"}
	const told = "retrying registry.example.com (2 of 3) in 4.0s: timeout"
	for name, test := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"bars":            {nil, told + "\n" + strings.Replace(told, "2 of 3", "3 of 3", 1)},
		"lines":           {func(o *Options) { o.NoBars = true }, told + "\n" + strings.Replace(told, "2 of 3", "3 of 3", 1)},
		"no terminal":     {func(o *Options) { o.Stderr.Terminal, o.Stderr.Color = false, false }, ""},
		"nothing is told": {func(o *Options) { o.Progress = ProgressNone }, ""},
	} {
		clock := newWatch()
		a, screen := shownActivity(clock, test.change)
		for range 3 { // several requests are retried for the same reason
			a.Retrying(retry)
		}
		retry := retry
		retry.Attempt = 3
		a.Retrying(retry)
		must.Equal(t, screen.Text(), test.want, name)
	}
}

func TestActivity_SaysWhatAnInterruptKeeps(t *testing.T) {
	clock := newWatch()
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		events []event.Event
		ctx    context.Context
		want   string
	}{
		"not interrupted": {nil, t.Context(), ""},
		"nothing":         {nil, interrupted, "Interrupted. Run again to continue."},
		"verifying":       {[]event.Event{event.Event{Kind: event.Queued, Sizes: map[string]int64{}}}, interrupted, ""},
		"parts, and what is in its place": {[]event.Event{
			came(alpha, 0, 100*mb), came(alpha, 100*mb, 100*mb), installed(alpha),
			came(beta, 0, 50*mb), came(beta, 12*mb, 50*mb), on(event.Kept, beta, v1, [2]int64{12 * mb}),
		}, interrupted, "Interrupted. 112 MB are kept; run again to continue."},
	} {
		a, _ := shownActivity(clock, func(o *Options) { o.Progress = ProgressNone })
		for _, e := range test.events {
			a.Observe(e)
		}
		a.Close()
		screen := screentest.New(100, 30)
		a.Interrupted(test.ctx, terminal.Stream{Writer: screen, Width: 100})
		must.Equal(t, screen.Text(), test.want, name)
	}
}

func TestActivity_ShowsModules(t *testing.T) {
	clock := newWatch()
	a, screen := shownActivity(clock, nil)
	a.Module("git::https://example.com/net.git", 0, -1, false)
	a.Module("https://example.com/net.tar.gz", 0, 8*mb, false)
	clock.Advance(3 * time.Second)
	a.Module("https://example.com/net.tar.gz", 6*mb, 8*mb, false)
	want := `git::https://example.com/net.git                                                downloading  3s
https://example.com/net.tar.gz    [======================>-------]  6.0/8.0 MB  1s left  2.0 MB/s
Total: 0 of 2                     [>-----------------------------]`
	must.Equal(t, screen.Text(), want)
	a.Module("https://example.com/net.tar.gz", 8*mb, 8*mb, true)
	a.Module("git::https://example.com/net.git", 0, -1, true)
	a.Close()
	must.Equal(t, screen.Text(), "Downloaded https://example.com/net.tar.gz: 6.0 MB in 3.0s (2.0 MB/s)")
}

// Bars that are drawn by the timer stop with Close, and other output at the same time stays whole.
func TestActivity_DrawsByTheClock(t *testing.T) {
	a, screen := shownActivity(newWatch(), func(o *Options) { o.Refresh, o.Now = time.Millisecond, time.Now })
	a.Observe(came(alpha, 0, 100*mb))
	out := a.above(terminal.Stream{Writer: screen, Terminal: true, Width: 100, Color: true})
	for deadline := time.Now().Add(10 * time.Second); !screen.Shows(`alpha`) && time.Now().Before(deadline); {
		a.Observe(came(alpha, 30*mb, 100*mb))
		_, _ = out.Write([]byte("a line\n"))
		time.Sleep(20 * time.Millisecond)
	}
	a.Close()
	if !screen.Shows(`alpha`) || strings.Trim(screen.Text(), "a line\n") != "" {
		t.Errorf("the screen was\n%s", screen.Text())
	}
}
