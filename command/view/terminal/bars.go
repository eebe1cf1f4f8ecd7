package terminal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/providercache/event"
)

const (
	// barWidth is the maximum width of bars in columns. With less room than
	// leastBarWidth no bars are drawn.
	barWidth, leastBarWidth = 30, 6
	// mostBars is the maximum number of bars if the terminal's height is
	// unknown. Bars have to fit on the terminal, or they can't be overwritten.
	mostBars = 10
)

// Bars shows running tasks by lines at the bottom of a terminal: one for each task, the largest at the bottom
// so that the last lines hardly move, and below them one for all. A finished large download leaves
// a line behind.
type Bars struct{ painter painter }

// NewBars returns bars on a terminal.
func NewBars(out Stream) *Bars { return &Bars{painter{out: out}} }

// Show prints a line for a finished download in the place of its bar.
func (b *Bars) Show(t *Task, all *Tasks) {
	if !t.ok || !t.large() || t.Came == 0 {
		return
	}
	lines := b.painter.drawn
	if len(lines) > 0 {
		lines = b.linesFor(all)
	}
	columns, _ := b.painter.out.size()
	_, _ = b.painter.print([]byte(Wrap(downloadedText(t), columns-1)+"\n"), lines)
}

// Beat draws all bars again.
func (b *Bars) Beat(all *Tasks) { b.painter.draw(b.linesFor(all)) }

// linesFor returns the lines at the bottom.
func (b *Bars) linesFor(all *Tasks) []string {
	columns, height := b.painter.out.size()
	now := all.Now()
	all.measure(now)
	var shown []*Task
	for _, t := range all.Running {
		if needsBar(t, now) {
			shown = append(shown, t)
		}
	}
	var rows []row
	if sum := all.sums(); sum.tasks > 1 && len(shown) > 0 {
		rows = append(rows, totalRow(all, sum, now))
	}
	slices.SortStableFunc(shown, func(x, y *Task) int { return cmp.Compare(max(y.Done, y.Total), max(x.Done, x.Total)) })
	room := mostBars
	if height > 0 {
		room = max(height-2, 1) // one line for the heading above, and one for the cursor
	}
	if len(shown)+len(rows) > room {
		shown = shown[:max(room-len(rows), 0)]
	}
	for _, t := range shown {
		rows = append(rows, rowOf(t, now))
	}
	slices.Reverse(rows)
	return layOut(rows, columns-1)
}

// Print writes lines of other output above the bars.
func (b *Bars) Print(to Stream, text []byte) (int, error) {
	if !sameTerminal(to, b.painter.out) {
		return to.Write(text)
	}
	return b.painter.print(text, b.painter.drawn)
}

// Close removes the bars.
func (b *Bars) Close() { b.painter.draw(nil) }

// row is a line about a task, in parts that are aligned with other rows.
type row struct {
	name   string
	short  []string // shorter forms of the name
	bar    float64  // the filled part, from 0 to 1; negative if unknown
	amount string   // bytes done and in all, as text
	more   []string // further parts, the most important first
	timed  bool     // the first of more is the time left
}

func rowOf(t *Task, now time.Time) row {
	r := row{name: t.Name, short: t.Shorter, bar: -1}
	if max(t.Done, t.Total) > 0 {
		r.amount = amounts(t.Done, t.Total)
	}
	if t.Total > 0 {
		r.bar = float64(t.Done) / float64(t.Total)
	}
	switch quiet := now.Sub(t.Last); {
	case t.Phase != event.Downloading:
		if t.Total > 0 && (t.Done == 0 || t.Done >= t.Total) {
			r.amount = Megabytes(t.Total)
		}
		if t.Done == 0 {
			r.bar = -1
		}
		r.more = []string{t.Phase.String(), whole(now.Sub(t.since))}
		if t.isHashed() {
			r.more = append(r.more[:1], speed(t.pace.rate(now), t.left(now))...)
		}
	case t.Came == 0 && t.Key.Module == "": // git reports no bytes
		r.more = []string{"waiting", whole(now.Sub(t.since))}
	case quiet >= stallDelay:
		r.more = []string{"no data for " + whole(quiet)}
	case t.Total < 0 && t.Done == 0:
		r.more = []string{t.Phase.String(), whole(now.Sub(t.since))}
	default:
		r.more, r.timed = speed(t.pace.rate(now), t.left(now)), t.left(now) >= 0
	}
	return r
}

func totalRow(all *Tasks, sum sums, now time.Time) row {
	r := row{name: fmt.Sprintf("Total: %d of %d", all.Ended, sum.tasks), bar: float64(all.Ended) / float64(sum.tasks)}
	if sum.total > 0 {
		r.amount, r.bar = amounts(sum.done, sum.total), float64(sum.done)/float64(sum.total)
		if sum.about {
			r.amount = "~" + r.amount
		}
		left := timeLeft(sum.total-sum.done, all.pace.rate(now))
		for _, t := range all.Running { // the last download may have all the bandwidth, and be no faster
			left = max(left, t.left(now))
		}
		r.more, r.timed = speed(all.pace.rate(now), left), left >= 0
		if sum.done >= sum.total && len(all.Running) > 0 && all.Running[0].Phase != event.Downloading {
			r.more, r.timed = []string{all.Running[0].Phase.String()}, false // the time left is unknown then
		}
	}
	return r
}

// layOut formats rows as lines of at most so many columns. If there is little room, it first drops the bars, then
// the least important parts, and cuts names.
func layOut(rows []row, columns int) (lines []string) {
	name, amount, words, left := 0, 0, 0, 0
	for _, r := range rows {
		name, amount = max(name, columnsOf(r.name)), max(amount, columnsOf(r.amount))
		if words = max(words, len(r.more)); r.timed {
			left = max(left, columnsOf(r.more[0]))
		}
	}
	for _, r := range rows {
		if r.timed {
			r.more[0] = padLeft(r.more[0], left)
		}
	}
	more := func(r row, words int) string { return strings.Join(r.more[:min(words, len(r.more))], "  ") }
	widest := func(words int) (n int) {
		for _, r := range rows {
			n = max(n, columnsOf(more(r, words)))
		}
		return n
	}
	const leastName = 12
	gap := func(columns int) int {
		if columns > 0 {
			return columns + 2
		}
		return 0
	}
	for words > 1 && min(name, leastName)+gap(amount)+gap(widest(words)) > columns {
		words--
	}
	rest := columns - gap(amount) - gap(widest(words))
	bar := min(barWidth, rest-name-4)
	if bar < leastBarWidth && rest-leastBarWidth-4 >= 2*leastName { // a shorter name rather than no bar
		bar = leastBarWidth
	}
	if bar >= leastBarWidth {
		rest -= bar + 4
	} else {
		bar = 0
	}
	name = max(min(name, rest), 1)
	for _, r := range rows {
		line := pad(cutName(r, name), name)
		if bar > 0 {
			line += "  " + barOf(r.bar, bar)
		}
		if amount > 0 {
			line += "  " + padLeft(r.amount, amount)
		}
		if text := more(r, words); text != "" {
			line += "  " + text
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// cutName returns the row's name, or the first of its shorter forms that fits. If none fits, the end of the last one is cut off;
// a name without shorter forms loses its beginning.
func cutName(r row, columns int) string {
	if len(r.short) == 0 {
		return cutFront(r.name, columns)
	}
	for _, name := range append([]string{r.name}, r.short...) {
		if columnsOf(name) <= columns {
			return name
		}
	}
	return cut(r.short[len(r.short)-1], columns)
}

// barOf draws a bar; without a known part it is empty space.
func barOf(part float64, columns int) string {
	if part < 0 {
		return strings.Repeat(" ", columns+2)
	}
	full := min(int(part*float64(columns)), columns)
	text := strings.Repeat("=", full)
	if full < columns {
		text += ">"
	}
	return "[" + text + strings.Repeat("-", max(columns-full-1, 0)) + "]"
}
