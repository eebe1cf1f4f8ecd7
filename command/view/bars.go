package view

import (
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

const (
	// barDelay is how long a download runs before it gets a bar. What is over
	// sooner would only flicker.
	barDelay = 300 * time.Millisecond
	// barRefresh is how often bars are drawn.
	barRefresh = 100 * time.Millisecond
	// barWidth is how wide they are, in columns, where there is room.
	barWidth = 30
	// mostBars is how many there are at most where it is unknown how high the
	// terminal is. What is drawn has to fit on it, or it can't be drawn over.
	mostBars = 10
)

// bars shows downloads by bars at the bottom of a terminal, those that are
// large below those that aren't, so that the last ones hardly move. A bar goes
// when its package is in its place. As long as there is one, goroutines of the
// library draw; as soon as there is none, nothing is left of them.
type bars struct {
	out       Stream
	now       func() time.Time // called by the library's goroutines, too
	container *mpb.Progress    // nil: there is no bar
	shown     map[*download]*mpb.Bar
}

func newBars(out Stream, now func() time.Time) *bars {
	return &bars{out: out, now: now, shown: map[*download]*mpb.Bar{}}
}

func (b *bars) update(d *download) {
	bar := b.shown[d]
	if bar == nil {
		if !d.large() || d.last.Sub(d.begun) < barDelay || len(b.shown) >= b.room() {
			return
		}
		if bar = b.add(d); bar == nil {
			return
		}
	}
	bar.SetTotal(max(d.total, 0), false)
	bar.SetCurrent(d.done)
}

// room is how many bars fit on the terminal, with a line for what they are about.
func (b *bars) room() int {
	if b.out.Height <= 0 {
		return mostBars
	}
	return max(b.out.Height-2, 1)
}

// add makes a bar. It is made without a total, because one that has a total is
// done when all has come, and not when the package is in its place. It is nil if
// the terminal is gone.
func (b *bars) add(d *download) *mpb.Bar {
	if b.container == nil {
		b.container = mpb.New(mpb.WithOutput(b.out.Writer), mpb.WithAutoRefresh(),
			mpb.WithRefreshRate(barRefresh), mpb.WithWidth(columns(b.out)))
	}
	from, had, known := d.begun, d.had, d.total >= 0
	bar, err := b.container.Add(0, mpb.BarStyle().Build(),
		mpb.BarWidth(barWidth),
		mpb.BarPriority(int(min(max(d.done, d.total)>>10, 1<<30))),
		mpb.PrependDecorators(decor.Name(d.short, decor.WCSyncWidthR)),
		mpb.AppendDecorators(decor.Any(func(s decor.Statistics) string {
			total := s.Total
			if !known {
				total = -1
			}
			return barText(s.Current, total, s.Current-had, b.now().Sub(from))
		})),
	)
	if err != nil {
		return nil
	}
	b.shown[d] = bar
	return bar
}

// barText is what stands behind a bar: how much has come, how fast, and how
// much longer it takes at that pace.
func barText(done, total, came int64, took time.Duration) string {
	text := mebibytes(done, total)
	if done == total {
		return text + " unpacking"
	}
	speed := perSecond(came, took)
	if speed == 0 {
		return text
	}
	text += " " + mebibytes(speed, -1) + "/s"
	if total < 0 {
		return text
	}
	left := time.Duration(float64(total-done) / float64(speed) * float64(time.Second))
	return text + " " + left.Round(time.Second).String()
}

func (b *bars) finish(d *download) { b.drop(d) }

func (b *bars) drop(d *download) {
	bar := b.shown[d]
	if bar == nil {
		return
	}
	bar.Abort(true)
	if delete(b.shown, d); len(b.shown) == 0 {
		b.close()
	}
}

// close takes all bars away and waits until the lines above them are written.
func (b *bars) close() {
	if b.container == nil {
		return
	}
	for _, bar := range b.shown {
		bar.Abort(true)
	}
	clear(b.shown)
	b.container.Wait()
	b.container = nil
}

// above returns a stream for lines that go to the same terminal as the bars. A
// stream that goes somewhere else stays as it is.
func (b *bars) above(to Stream) Stream {
	if !sameTerminal(to, b.out) {
		return to
	}
	to.Writer = above{bars: b, Stream: to}
	return to
}

// above writes lines over bars, if there are any.
type above struct {
	bars *bars
	Stream
}

// Write implements io.Writer, for whole lines.
func (a above) Write(p []byte) (int, error) {
	if a.bars.container != nil {
		if n, err := a.bars.container.Write(p); err == nil {
			return n, nil
		}
	}
	return a.Stream.Write(p)
}
