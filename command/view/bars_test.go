package view

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// terminal understands as much of what bars write as they use: lines, and the sequences that go up
// and clear what is below.
type terminal struct {
	mu     sync.Mutex
	lines  []string
	column []byte   // the line that isn't finished
	seen   []string // the screen after each write
}

var upAndClear = regexp.MustCompile(`^\x1b\[(\d+)A\x1b\[J`)

// Write implements io.Writer.
func (m *terminal) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for rest := p; len(rest) > 0; {
		switch up := upAndClear.FindSubmatch(rest); {
		case up != nil:
			n, _ := strconv.Atoi(string(up[1]))
			m.lines = m.lines[:max(len(m.lines)-n, 0)]
			rest = rest[len(up[0]):]
		case rest[0] == '\n':
			m.lines, m.column, rest = append(m.lines, strings.TrimRight(string(m.column), " ")), nil, rest[1:]
		default:
			m.column, rest = append(m.column, rest[0]), rest[1:]
		}
	}
	m.seen = append(m.seen, strings.Join(m.lines, "\n"))
	return len(p), nil
}

func (m *terminal) screen() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.lines, "\n") + string(m.column)
}

// history is all that the screen has shown.
func (m *terminal) history() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.seen)
}

// shows reports whether the screen has ever shown a text.
func (m *terminal) shows(pattern string) bool {
	return slices.ContainsFunc(m.history(), regexp.MustCompile(pattern).MatchString)
}

// onTerminal is an Init that has both streams on one terminal. Bars are drawn
// by the library's goroutines, so the clock only jumps.
func onTerminal(clock *slowWatch, change func(*Options)) (*Init, *terminal) {
	m := new(terminal)
	o := Options{
		Product: getproviders.Terraform("1.15.9"),
		Plain:   true,
		Stdout:  Stream{Writer: m, Terminal: true, Width: 100, Height: 30, Color: true},
		Stderr:  Stream{Writer: m, Terminal: true, Width: 100, Height: 30, Color: true},
		Now:     clock.now,
	}
	if change != nil {
		change(&o)
	}
	return NewInit(o), m
}

// slowWatch is a watch that many goroutines may read.
type slowWatch struct {
	mu sync.Mutex
	at time.Time
}

func (w *slowWatch) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *slowWatch) advance(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(by)
}

func TestProgress_InATerminal(t *testing.T) {
	clock := &slowWatch{at: newWatch().Time}
	v, screen := onTerminal(clock, nil)
	v.ProvidersBegin()
	v.Observe(pending(alpha, beta, gamma))
	for _, p := range []getproviders.Provider{alpha, beta, gamma} {
		v.Observe(event.QueryEvent{Addr: p})
	}
	for i, p := range []getproviders.Provider{alpha, beta, gamma} {
		v.Observe(begin(p, "https://example.com/a.zip", "registry example.com"))
		v.Observe(came(p, 0, int64(30-10*i)<<20))
	}
	clock.advance(time.Second)
	for i, p := range []getproviders.Provider{alpha, beta, gamma} {
		v.Observe(came(p, int64(5+i)<<20, int64(30-10*i)<<20))
	}
	v.Observe(came(gamma, 10<<20, 10<<20))
	v.Observe(installed(gamma))
	v.Observe(installed(alpha))
	v.Observe(installed(beta))
	v.Done(v.ProvidersEnd(), true)
	// The largest download is at the bottom, and lines are above the bars.
	const bar = ` +\[=+>-+\] +`
	if !screen.shows(`(?m)\A(.*\n)*- Installing example.com/acme/alpha v1\.2\.3\.\.\.\n(.*\n)*` +
		`example.com/acme/gamma +\[=+>?-*\] +10\.0/10\.0 MiB unpacking\n` +
		`example.com/acme/beta` + bar + `6\.0/20\.0 MiB 6\.0 MiB/s 2s\n` +
		`example.com/acme/alpha` + bar + `5\.0/30\.0 MiB 5\.0 MiB/s 5s$`) {
		t.Errorf("no screen has the bars:\n%s", strings.Join(screen.history(), "\n--\n"))
	}
	want := `Initializing provider plugins...
- Finding latest version of example.com/acme/alpha...
- Finding latest version of example.com/acme/beta...
- Finding latest version of example.com/acme/gamma...
- Installing example.com/acme/alpha v1.2.3...
- Installed example.com/acme/alpha v1.2.3 (unauthenticated)
- Installing example.com/acme/beta v1.2.3...
- Installed example.com/acme/beta v1.2.3 (unauthenticated)
- Installing example.com/acme/gamma v1.2.3...
- Installed example.com/acme/gamma v1.2.3 (unauthenticated)

Terraform has been successfully initialized!
3 providers ready in 1.0s: 3 downloaded (22 MB from example.com)`
	if got := screen.screen(); got != want {
		t.Errorf("the screen is at last\n%s\nwant\n%s", got, want)
	}
}

// A bar for a small or quick download would only flicker.
func TestBars_AreForDownloadsThatLast(t *testing.T) {
	tests := []struct {
		name        string
		after       time.Duration
		done, total int64
		want        bool
	}{
		{"small", time.Hour, 1 << 19, 1<<20 - 1, false},
		{"quick", 299 * time.Millisecond, 1 << 20, 1 << 30, false},
		{"neither", 300 * time.Millisecond, 1 << 19, 1 << 20, true},
		{"unknown size", time.Second, 1<<20 - 1, -1, false},
		{"large, whatever is to come", time.Second, 1 << 20, -1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			clock := &slowWatch{at: newWatch().Time}
			v, screen := onTerminal(clock, nil)
			v.Observe(pending(alpha))
			v.Observe(came(alpha, 0, tt.total))
			clock.advance(tt.after)
			v.Observe(came(alpha, tt.done, tt.total))
			v.ProvidersEnd()
			if got := screen.shows(`alpha.*MiB`); got != tt.want {
				t.Errorf("there was a bar: %t\n%q", got, screen.history())
			}
			if got := screen.screen(); got != "" {
				t.Errorf("%q is left", got)
			}
		})
	}
}

// After an interrupt, no further events come.
func TestBars_LeaveNothingBehind(t *testing.T) {
	clock := &slowWatch{at: newWatch().Time}
	v, screen := onTerminal(clock, nil)
	v.Observe(pending(alpha, beta))
	v.Observe(event.QueryEvent{Addr: alpha})
	for range 2 { // with -with, packages are installed twice
		v.Observe(came(alpha, 0, 10<<20))
		clock.advance(time.Second)
		v.Observe(came(alpha, 1<<20, 10<<20))
		v.ProvidersEnd()
	}
	v.Problems(problem.List{problem.Error("Canceled", "")})
	if !screen.shows(`1\.0/10\.0 MiB`) {
		t.Errorf("there was no bar: %q", screen.history())
	}
	if got, want := strings.TrimSpace(screen.screen()), "- Finding latest version of example.com/acme/alpha...\n\nError: Canceled"; got != want {
		t.Errorf("the screen is %q, want %q", got, want)
	}
}

func TestBars_FitOnTheTerminal(t *testing.T) {
	const unicode = "рrövider-with-a-long-name-世界"
	for _, size := range []struct{ width, height, most int }{{100, 5, 3}, {40, 30, 8}, {20, 2, 1}, {100, 0, 8}} {
		clock := &slowWatch{at: newWatch().Time}
		v, screen := onTerminal(clock, func(o *Options) {
			o.Stderr.Width, o.Stderr.Height = size.width, size.height
		})
		var all []getproviders.Provider
		for i := range 8 {
			all = append(all, getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: unicode + strconv.Itoa(i)})
		}
		v.Observe(pending(all...))
		for range 2 {
			for _, p := range all {
				v.Observe(came(p, 1<<20, 10<<20))
			}
			clock.advance(time.Second)
		}
		v.ProvidersEnd()
		most := 0
		for _, screen := range screen.history() {
			most = max(most, strings.Count(screen, "example.com"))
			for line := range strings.Lines(screen) {
				if columns := width(line); columns > max(size.width, 20) {
					t.Errorf("%d columns: a line has %d: %q", size.width, columns, line)
				}
			}
		}
		if most != size.most {
			t.Errorf("%d lines: there were %d bars, want %d", size.height, most, size.most)
		}
	}
}

// width is how many columns a line takes; wide characters take two.
func width(line string) (n int) {
	for _, r := range strings.TrimRight(line, "\n") {
		if n++; r >= 0x1100 && r != '…' {
			n++
		}
	}
	return n
}

// Where stdout isn't the terminal, the terminal shows none of it.
func TestBars_WithResultsElsewhere(t *testing.T) {
	clock := &slowWatch{at: newWatch().Time}
	var elsewhere bytes.Buffer
	v, screen := onTerminal(clock, func(o *Options) { o.Stdout = Stream{Writer: &elsewhere} })
	v.Observe(pending(alpha))
	v.Observe(came(alpha, 0, 10<<20))
	clock.advance(time.Second)
	v.Observe(came(alpha, 1<<20, 10<<20))
	v.Observe(event.QueryEvent{Addr: alpha})
	if got := elsewhere.String(); !strings.Contains(got, "- Finding") {
		t.Errorf("stdout has %q, and should have a line at once", got)
	}
	v.ProvidersEnd()
	if screen.shows("Finding") || !screen.shows("MiB") {
		t.Errorf("the terminal was %q", screen.history())
	}
}

// hungUp is a terminal whose user has left.
type hungUp struct{}

func (hungUp) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestBars_TerminalThatIsGone(t *testing.T) {
	clock := &slowWatch{at: newWatch().Time}
	var elsewhere bytes.Buffer
	v, _ := onTerminal(clock, func(o *Options) {
		o.Stderr.Writer, o.Stdout = hungUp{}, Stream{Writer: &elsewhere}
	})
	v.Observe(pending(alpha, beta))
	for _, p := range []getproviders.Provider{alpha, beta} {
		v.Observe(came(p, 0, 10<<20))
		clock.advance(time.Second)
		v.Observe(came(p, 1<<20, 10<<20))
		time.Sleep(3 * barRefresh) // it is noticed when bars are drawn
	}
	v.Observe(event.QueryEvent{Addr: alpha})
	v.Done(v.ProvidersEnd(), true)
	if got := elsewhere.String(); !strings.Contains(got, "- Finding") || !strings.Contains(got, "successfully") {
		t.Errorf("stdout has %q", got)
	}
}
