package view

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/screentest"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// onTerminal returns an Init with both streams on one terminal.
func onTerminal(clock *watch, change func(*Options)) (*Init, *screentest.Terminal) {
	m := screentest.New(100, 30)
	o := Options{
		Names:  asTerraform,
		Plain:  true,
		Stdout: terminal.Stream{Writer: m, Terminal: true, Width: 100, Height: 30, Color: true},
		Stderr: terminal.Stream{Writer: m, Terminal: true, Width: 100, Height: 30, Color: true},
		Now:    clock.now,
	}
	if change != nil {
		change(&o)
	}
	return NewInit(o), m
}

func TestProgress_InATerminal(t *testing.T) {
	clock := newWatch()
	v, screen := onTerminal(clock, nil)
	v.ProvidersBegin()
	v.Observe(pending(alpha, beta, gamma))
	for _, p := range []getproviders.Provider{alpha, beta, gamma} {
		v.Observe(on(event.Query, p))
	}
	for i, p := range []getproviders.Provider{alpha, beta, gamma} {
		v.Observe(begin(p, "https://example.com/a.zip", "example.com"))
		v.Observe(came(p, 0, int64(30-10*i)*mb))
	}
	clock.Advance(time.Second)
	for i, p := range []getproviders.Provider{alpha, beta, gamma} {
		v.Observe(came(p, int64(5+i)*mb, int64(30-10*i)*mb))
	}
	v.Observe(came(gamma, 10*mb, 10*mb))
	v.Observe(on(event.Begun, gamma, v1, event.Unpacking))
	// The largest download is at the bottom, above the bar for all, and lines are above the bars.
	bars := `- Installing example.com/acme/alpha v1.2.3...
example.com/acme/gamma v1.2.3  [==============================]     10 MB  unpacking  1s
example.com/acme/beta v1.2.3   [=========>--------------------]   6/20 MB  2s left  6.0 MB/s
example.com/acme/alpha v1.2.3  [=====>------------------------]   5/30 MB  5s left  5.0 MB/s
Total: 0 of 3                  [==========>-------------------]  21/60 MB  5s left  21 MB/s`
	if got := screen.Text(); !strings.HasSuffix(got, bars) {
		t.Errorf("the screen is\n%s\nwant at its end\n%s", got, bars)
	}
	v.Observe(installed(gamma))
	v.Observe(installed(alpha))
	v.Observe(installed(beta))
	v.Done(v.ProvidersEnd(), true)
	want := `Initializing provider plugins...
- Finding latest version of example.com/acme/alpha...
- Finding latest version of example.com/acme/beta...
- Finding latest version of example.com/acme/gamma...
- Installing example.com/acme/alpha v1.2.3...
Downloaded example.com/acme/gamma v1.2.3: 10 MB in 1.0s (10 MB/s)
Downloaded example.com/acme/alpha v1.2.3: 5.0 MB in 1.0s (5.0 MB/s)
- Installed example.com/acme/alpha v1.2.3 (unauthenticated)
- Installing example.com/acme/beta v1.2.3...
Downloaded example.com/acme/beta v1.2.3: 6.0 MB in 1.0s (6.0 MB/s)
- Installed example.com/acme/beta v1.2.3 (unauthenticated)
- Installing example.com/acme/gamma v1.2.3...
- Installed example.com/acme/gamma v1.2.3 (unauthenticated)

Terraform has been successfully initialized!
3 providers ready in 1.0s: 3 downloaded (21 MB from example.com)`
	must.Equal(t, screen.Text(), want)
}

// A bar for a small or quick download would only flicker.
func TestBars_AreForDownloadsThatLast(t *testing.T) {
	tests := []struct {
		name        string
		after       time.Duration
		done, total int64
		want        bool
	}{
		{"small", 2*time.Second - 1, mb / 2, mb - 1, false},
		{"small, and slow", 2 * time.Second, mb / 2, mb - 1, true},
		{"quick", 300*time.Millisecond - 1, mb, 1 << 30, false},
		{"large", 300 * time.Millisecond, mb / 2, mb, true},
		{"unknown size", time.Second, mb - 1, -1, false},
		{"large, whatever is to come", time.Second, mb, -1, true},
	}
	for _, tt := range tests {
		clock := newWatch()
		v, screen := onTerminal(clock, nil)
		v.Observe(pending(alpha))
		v.Observe(came(alpha, 0, tt.total))
		clock.Advance(tt.after)
		v.Observe(came(alpha, tt.done, tt.total))
		v.ProvidersEnd()
		must.Equal(t, screen.Shows(`alpha v1.2.3 .*[kM]B`), tt.want, tt.name, screen.History())
		must.Equal(t, screen.Text(), "", tt.name)
	}
}

// No events follow an interrupt.
func TestBars_LeaveNothingBehind(t *testing.T) {
	clock := newWatch()
	v, screen := onTerminal(clock, nil)
	v.Observe(pending(alpha, beta))
	v.Observe(on(event.Query, alpha))
	for range 2 { // with -with, packages are installed twice
		clock.download(v, alpha, 1*mb, 10*mb)
		v.ProvidersEnd()
	}
	v.Problems(problem.List{problem.Error("", "Canceled", "")})
	if !screen.Shows(`1/10 MB`) {
		t.Errorf("there was no bar: %q", screen.History())
	}
	must.Equal(t, strings.TrimSpace(screen.Text()), "- Finding latest version of example.com/acme/alpha...\n\nError: Canceled")
}

// After an interrupt no bars are drawn, although work continues for a moment, and lines are still printed.
func TestBars_AreGoneAfterAnInterrupt(t *testing.T) {
	clock := newWatch()
	v, screen := onTerminal(clock, nil)
	v.ProvidersBegin()
	v.Observe(pending(alpha))
	v.Observe(begin(alpha, "https://example.com/a.zip", "example.com"))
	clock.download(v, alpha, 5*mb, 30*mb)
	must.Contain(t, screen.Text(), "left")
	v.Activity.stopDrawing()
	clock.Advance(time.Second)
	v.Observe(came(alpha, 30*mb, 30*mb))
	v.Observe(on(event.Begun, alpha, v1, event.Unpacking))
	v.Observe(installed(alpha))
	if got := screen.Text(); strings.Contains(got, "[") || !strings.Contains(got, "Downloaded example.com/acme/alpha") {
		t.Errorf("the screen is\n%s", got)
	}
}

func TestBars_FitOnTheTerminal(t *testing.T) {
	const unicode = "рrövider-with-a-long-name-世界"
	for _, size := range []struct{ width, height, most int }{{100, 5, 2}, {40, 30, 8}, {40, 8, 5}, {20, 3, 0}, {100, 0, 8}} {
		clock := newWatch()
		v, screen := onTerminal(clock, func(o *Options) {
			o.Stderr.Width, o.Stderr.Height = size.width, size.height
		})
		var all []getproviders.Provider
		for i := range 8 {
			all = append(all, acme(unicode+strconv.Itoa(i)))
		}
		v.Observe(pending(all...))
		for range 2 {
			for _, p := range all {
				v.Observe(came(p, 1*mb, 10*mb))
			}
			clock.Advance(time.Second)
		}
		v.ProvidersEnd()
		most := 0
		for _, screen := range screen.History() {
			most = max(most, strings.Count(screen, "世界"))
			for line := range strings.Lines(screen) {
				if columns := utf8.RuneCountInString(strings.TrimRight(line, "\n")) + strings.Count(line, "世") + strings.Count(line, "界"); columns >= size.width {
					t.Errorf("%d columns: a line has %d: %q", size.width, columns, line)
				}
			}
		}
		must.Equal(t, most, size.most, size.height)
	}
}

// If stdout isn't the terminal, the terminal shows none of it.
func TestBars_WithResultsElsewhere(t *testing.T) {
	clock := newWatch()
	var elsewhere bytes.Buffer
	v, screen := onTerminal(clock, func(o *Options) { o.Stdout = terminal.Stream{Writer: &elsewhere} })
	v.Observe(pending(alpha))
	clock.download(v, alpha, 1*mb, 10*mb)
	v.Observe(on(event.Query, alpha))
	must.Contain(t, elsewhere.String(), "- Finding")
	v.ProvidersEnd()
	if screen.Shows("Finding") || !screen.Shows("MB") {
		t.Errorf("the terminal was %q", screen.History())
	}
}

// hungUp is a terminal whose user has left.
type hungUp struct{}

func (hungUp) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestBars_TerminalThatIsGone(t *testing.T) {
	clock := newWatch()
	var elsewhere bytes.Buffer
	v, _ := onTerminal(clock, func(o *Options) {
		o.Stderr.Writer, o.Stdout = hungUp{}, terminal.Stream{Writer: &elsewhere}
	})
	v.Observe(pending(alpha, beta))
	for _, p := range []getproviders.Provider{alpha, beta} {
		clock.download(v, p, 1*mb, 10*mb)
	}
	v.Observe(on(event.Query, alpha))
	v.Done(v.ProvidersEnd(), true)
	if got := elsewhere.String(); !strings.Contains(got, "- Finding") || !strings.Contains(got, "successfully") {
		t.Errorf("stdout has %q", got)
	}
}
