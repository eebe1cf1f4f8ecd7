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
	// barWidth is how wide bars are, in columns, where there is room; with less than
	// leastBarWidth there is none.
	barWidth, leastBarWidth = 30, 6
	// mostBars is how many there are at most where it is unknown how high the
	// terminal is. What is drawn has to fit on it, or it can't be drawn over.
	mostBars = 10
)

// Bars shows what is under way by lines at the bottom of a terminal: one for each task, the largest below the others
// so that the last ones hardly move, and below them one for all. When a large download is in its place, it leaves
// a line behind.
type Bars struct{ painter painter }

// NewBars returns bars on a terminal.
func NewBars(out Stream) *Bars { return &Bars{painter{out: out}} }

// Show prints what stays: the line about a download takes the place of its bar.
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

// linesFor are the lines at the bottom.
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
		room = max(height-2, 1) // a line for what it is about, and one for the cursor
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

// Print writes lines of the rest of the program above the bars.
func (b *Bars) Print(to Stream, text []byte) (int, error) {
	if !sameTerminal(to, b.painter.out) {
		return to.Write(text)
	}
	return b.painter.print(text, b.painter.drawn)
}

// Close takes the bars away.
func (b *Bars) Close() { b.painter.draw(nil) }

// row is a line about a task, in parts that stand below each other.
type row struct {
	name   string
	short  []string // shorter forms of the name
	bar    float64  // how much of it is filled, from 0 to 1; negative: it isn't known
	amount string   // how much has come
	more   []string // what else there is to say, the most important first
	timed  bool     // the first of these is how much longer it takes
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
	case t.Came == 0 && t.Key.Module == "": // git doesn't say how much has come
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
		for _, t := range all.Running { // the last one may have all of the network, and be no faster
			left = max(left, t.left(now))
		}
		r.more, r.timed = speed(all.pace.rate(now), left), left >= 0
		if sum.done >= sum.total && len(all.Running) > 0 && all.Running[0].Phase != event.Downloading {
			r.more, r.timed = []string{all.Running[0].Phase.String()}, false // nothing is known of how long that takes
		}
	}
	return r
}

// layOut makes lines of rows, with no more columns than there are. Where there is little room, bars go first, then
// what is least important, and names lose their beginnings.
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

// cutName is the name in a row, or the first of its shorter forms that has room. Where none has, the last of these loses its end,
// and a name without any its beginning.
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
