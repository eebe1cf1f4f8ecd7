package view

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/event"
)

const mb = 1_000_000

var v1 = getproviders.MustParseVersion("1.2.3")

// watch is a clock that is moved by hand.
type watch struct{ time.Time }

func newWatch() *watch { return &watch{time.Date(2026, 5, 4, 3, 2, 1, 123456000, time.UTC)} }

func (w *watch) now() time.Time { return w.Time }

func (w *watch) Advance(by time.Duration) { w.Time = w.Add(by) }

// script says what happens after how many seconds.
type script []struct {
	at    float64
	event event.Event
}

// play sends the events of a script to a speaker.
func (s *speaker) play(clock *watch, events script) {
	begun := clock.Time
	for _, step := range events {
		clock.Time = begun.Add(time.Duration(step.at * float64(time.Second)))
		s.Observe(step.event)
	}
}

func timed(clock *watch, change func(*Options)) *speaker {
	return newSpeaker(func(o *Options) { o.Now = clock.now; change(o) })
}

func begin(p getproviders.Provider, archive, short string) event.Event {
	address, _ := url.Parse(archive)
	e := on(event.Fetching, p, v1, "registry "+short, getproviders.HTTPArchive{URL: address})
	e.Package.ShortSource = short
	return e
}

func came(p getproviders.Provider, done, total int64) event.Event {
	return on(event.Progress, p, v1, [2]int64{done, total})
}

// download sends the events of a part of a package that arrives within a second.
func (w *watch) download(to interface{ Observe(event.Event) }, p getproviders.Provider, done, total int64) {
	to.Observe(came(p, 0, total))
	w.Advance(time.Second)
	to.Observe(came(p, done, total))
}

func installed(p getproviders.Provider) event.Event {
	return ended(event.Fetched, p, v1)
}

// threeAtOnce is a run with a long download, a small one and one that fails.
func threeAtOnce() script {
	const signed = "https://user:hunter2@cdn.example.com/a.zip?signature=hunter2"
	return script{
		{0, pending(alpha, beta, gamma)},
		{0, begin(alpha, signed, "example.com")},
		{0, begin(beta, signed, "example.com")},
		{0, begin(gamma, signed, "example.com")},
		{0, came(alpha, 0, 157*mb)},
		{0, came(beta, 0, 20_000)},
		{0.1, came(beta, 20_000, 20_000)},
		{0.1, installed(beta)},
		{0.5, came(alpha, 6*mb, 157*mb)},
		{1, came(gamma, 0, -1)},
		{1.2, came(gamma, 900_000, -1)},
		{1.5, came(gamma, 2*mb, -1)},
		{2, came(alpha, 24*mb, 157*mb)},
		{9.9, came(alpha, 99*mb, 157*mb)},
		{10, came(gamma, 7*mb, -1)},
		{10.5, came(alpha, 105*mb, 157*mb)},
		{11, ended(event.Failed, gamma, errors.New("cut"))},
		{20.1, came(alpha, 150*mb, 157*mb)},
		{21, came(alpha, 157*mb, 157*mb)},
		{21, on(event.Begun, alpha, v1, event.Unpacking)},
		{23, installed(alpha)},
	}
}

func TestPlainProgress(t *testing.T) {
	clock := newWatch()
	s := timed(clock, func(o *Options) { o.Progress = ProgressPlain })
	s.play(clock, threeAtOnce())
	s.ProvidersEnd()
	want := `Downloading example.com/acme/alpha v1.2.3 (157 MB)...
Downloading example.com/acme/gamma v1.2.3 (size unknown)...
Still downloading example.com/acme/alpha v1.2.3: 99 MB of 157 MB (63%), 10 MB/s, 6s left; example.com/acme/gamma v1.2.3: 7.0 MB, 778 kB/s
Still downloading example.com/acme/alpha v1.2.3: 150 MB of 157 MB (96%), 5.0 MB/s, 1s left
Downloaded example.com/acme/alpha v1.2.3: 157 MB in 21.0s (7.5 MB/s)
`
	must.Equal(t, s.err.String(), want)
}

func TestPlainProgress_ResumedDownloads(t *testing.T) {
	tests := []struct {
		name string
		run  script
		want string
	}{
		{"the rest comes", script{
			{0, came(alpha, 40*mb, 157*mb)},
			{4, came(alpha, 157*mb, 157*mb)},
			{5, installed(alpha)},
		}, `Downloading example.com/acme/alpha v1.2.3 (157 MB, of which 40 MB are here from an earlier run)...
Downloaded example.com/acme/alpha v1.2.3: 117 MB in 4.0s (29 MB/s)
`},
		{"the server has another archive now", script{
			{0, came(alpha, 40*mb, 157*mb)},
			{1, came(alpha, 50*mb, 157*mb)},
			{2, came(alpha, 0, 100*mb)},
			{6, came(alpha, 100*mb, 100*mb)},
			{7, installed(alpha)},
		}, `Downloading example.com/acme/alpha v1.2.3 (157 MB, of which 40 MB are here from an earlier run)...
Downloaded example.com/acme/alpha v1.2.3: 110 MB in 6.0s (18 MB/s)
`},
		{"all of it was here", script{
			{0, came(alpha, 157*mb, 157*mb)},
			{1, installed(alpha)},
		}, `Downloading example.com/acme/alpha v1.2.3 (157 MB, of which 157 MB are here from an earlier run)...
Downloaded example.com/acme/alpha v1.2.3: 0 kB in 0ms
`},
	}
	for _, tt := range tests {
		clock := newWatch()
		s := timed(clock, func(o *Options) { o.Progress = ProgressPlain })
		s.play(clock, append(script{{0, pending(alpha)}}, tt.run...))
		s.ProvidersEnd()
		must.Equal(t, s.err.String(), tt.want, tt.name)
	}
}

// However often progress is reported, a download has one line in ten seconds, and one object in a
// second.
func TestPlainProgress_IsRare(t *testing.T) {
	for _, tt := range []struct {
		json bool
		mode Progress
		want int
	}{{false, ProgressAuto, 6}, {true, ProgressAuto, 60}, {false, ProgressNone, 0}, {true, ProgressNone, 0}} {
		clock := newWatch()
		s := timed(clock, func(o *Options) { o.JSON, o.Progress = tt.json, tt.mode })
		s.Observe(pending(alpha, beta))
		for i := range int64(601) { // ten a second, for a minute
			s.Observe(came(alpha, i*mb, 700*mb))
			clock.Time = clock.Add(time.Second / 10)
		}
		must.Equal(t, strings.Count(s.out.String(), "Still")+strings.Count(s.out.String(), "download_progress"), tt.want, tt.json)
	}
}

func TestJSONProgress(t *testing.T) {
	clock := newWatch()
	s := timed(clock, func(o *Options) { o.JSON, o.Progress = true, ProgressPlain })
	s.play(clock, threeAtOnce())
	s.ProvidersEnd()
	var got strings.Builder
	for line := range strings.Lines(s.out.String()) {
		if strings.Contains(line, "download_progress") {
			got.WriteString(line)
		}
	}
	object := func(stamp, message, numbers, name, total string) string {
		return `{"@level":"info","@message":"example.com/acme/` + name + " v1.2.3: " + message + `","@module":"terraform.ui","@timestamp":"2026-05-04T03:02:` +
			stamp + `Z",` + numbers + `,"provider":"example.com/acme/` + name + `",` + total + `"type":"download_progress","version":"1.2.3"}` + "\n"
	}
	const all = `"total":157000000,`
	want := object("03.123456", "24 MB of 157 MB (15%)", `"done":24000000`, "alpha", all) +
		object("11.023456", "99 MB of 157 MB (63%)", `"done":99000000`, "alpha", all) +
		object("11.123456", "7.0 MB", `"done":7000000`, "gamma", "") +
		object("21.223456", "150 MB of 157 MB (96%)", `"done":150000000`, "alpha", all)
	must.Equal(t, got.String(), want)
	if s.err.Len() > 0 {
		t.Errorf("stderr has %q", s.err.String())
	}
}

// stdout is the same, however downloads are shown; and no output has a secret of an archive's URL.
func TestProgress_LeavesResultsAlone(t *testing.T) {
	said := map[Progress]string{}
	for _, mode := range []Progress{ProgressNone, ProgressPlain, ProgressTTY} {
		clock := newWatch()
		s := timed(clock, func(o *Options) {
			if o.Progress = mode; mode == ProgressTTY {
				o.Now = time.Now // the library's goroutines read the clock, too
			}
		})
		s.ProvidersBegin()
		s.play(clock, threeAtOnce())
		s.Done(s.ProvidersEnd(), false)
		if said[mode] = s.out.String(); mode == ProgressNone {
			must.Equal(t, s.err.String(), "")
		}
		must.NotContain(t, s.out.String()+s.err.String(), "hunter2", mode, s.out.String(), s.err.String())
	}
	for _, mode := range []Progress{ProgressPlain, ProgressTTY} {
		must.Equal(t, said[mode], said[ProgressNone], mode)
	}
}

func TestSummary(t *testing.T) {
	local := func(p getproviders.Provider) event.Event {
		return on(event.Fetching, p, v1, "/m", getproviders.LocalDirectory("/m"))
	}
	const archive, origin, mirror = "https://cdn.example.com/a.zip", "example.com", "https://mirror.example.com/"
	present := func(p getproviders.Provider) event.Event {
		return ended(event.Present, p, v1)
	}
	tests := []struct {
		name string
		run  script
		more func(*speaker)
		want string
	}{
		{"nothing to do", script{{0, present(alpha)}, {0.018, present(beta)}}, func(s *speaker) { s.ModulesEnd(4) },
			"Checked 2 providers, 4 modules in 18ms: nothing to do"},
		{"nothing at all", script{}, nil, "Checked 0 providers in 0ms: nothing to do"},
		{"a download and the cache", script{
			{0, begin(alpha, archive, origin)}, {0, came(alpha, 0, 214*mb)}, {3, came(alpha, 214*mb, 214*mb)}, {3.1, installed(alpha)},
			{3.24, ended(event.Linked, beta, v1)},
		}, func(s *speaker) { s.LockSaved(true); s.ModulesEnd(1) },
			"2 providers, 1 module ready in 3.2s: 1 downloaded (214 MB from example.com), 1 from the cache"},
		{"several sources", script{
			{0, begin(alpha, archive, origin)}, {0, came(alpha, 0, 2*mb)}, {3, came(alpha, 2*mb, 2*mb)}, {3.1, installed(alpha)},
			{0, begin(beta, archive, mirror)}, {0, came(beta, 0, 1500*mb)}, {3, came(beta, 1500*mb, 1500*mb)}, {72, installed(beta)},
			{72, local(gamma)}, {72, installed(gamma)},
		}, nil, "3 providers ready in 1m12s: 2 downloaded (1.5 GB from https://mirror.example.com/, 2.0 MB from example.com), 1 from local directories"},
		{"in place, but the lock file is new", script{{0, present(alpha)}}, func(s *speaker) { s.LockSaved(false) },
			"1 provider ready in 0ms: 1 in place already"},
		{"modules only", script{}, func(s *speaker) {
			s.ObserveModules(modules.Downloading{Key: "a", Package: "git::https://example.com/a"})
			s.ObserveModules(modules.Recorded{})
			s.ObserveModules(modules.Recorded{})
			s.ModulesEnd(2)
		}, "0 providers, 2 modules ready in 0ms: 1 module fetched"},
		{"a second look at what was downloaded", script{
			{0, begin(alpha, archive, origin)}, {0, came(alpha, 0, 300)}, {0, came(alpha, 300, 300)}, {0, installed(alpha)},
			{0, pending(alpha)}, {0, present(alpha)},
		}, nil, "1 provider ready in 0ms: 1 downloaded (1 kB from example.com)"},
		{"what isn't in its place yet", script{
			{0, begin(alpha, archive, origin)}, {0, came(alpha, 0, 300)}, {0, came(alpha, 200, 300)},
		}, nil, "1 provider ready in 0ms: 1 downloaded (0 kB from example.com)"},
	}
	for _, tt := range tests {
		clock := newWatch()
		s := timed(clock, func(o *Options) { o.Progress = ProgressPlain })
		s.play(clock, tt.run)
		s.ProvidersEnd()
		if tt.more != nil {
			tt.more(s)
		}
		s.Done(nil, false)
		lines := strings.Split(strings.TrimSuffix(s.err.String(), "\n"), "\n")
		must.Equal(t, lines[len(lines)-1], tt.want, tt.name)
	}
}
