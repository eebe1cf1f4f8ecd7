package terminal

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Megabytes formats a number of bytes in kB, MB or GB, which are
// powers of ten.
func Megabytes(n int64) string {
	if n < 1e6 {
		return fmt.Sprintf("%d kB", (n+999)/1000)
	}
	return amounts(n, -1)
}

// HowFar formats the progress of a download; total is -1 if unknown.
func HowFar(done, total int64) string {
	if total <= 0 {
		return Megabytes(done)
	}
	return fmt.Sprintf("%s of %s (%.0f%%)", Megabytes(done), Megabytes(total), 100*float64(done)/float64(total))
}

// amounts is HowFar for bars, which have little room: both numbers have the unit of the total.
func amounts(done, total int64) string {
	size, unit, format := 1e6, "MB", "%.0f"
	switch most := max(done, total); {
	case most < 1e6:
		size, unit = 1e3, "kB"
	case most >= 1e9:
		size, unit, format = 1e9, "GB", "%.1f"
	case most < 10e6:
		format = "%.1f"
	}
	text := fmt.Sprintf(format, float64(done)/size)
	if total >= 0 {
		text += "/" + fmt.Sprintf(format, float64(total)/size)
	}
	return text + " " + unit
}

// perSecond returns the rate, or 0 if unknown.
func perSecond(n int64, took time.Duration) int64 {
	if took <= 0 || n <= 0 {
		return 0
	}
	return int64(float64(n) / took.Seconds())
}

// Seconds formats a duration with a sensible precision.
func Seconds(took time.Duration) string {
	switch {
	case took < time.Second:
		return fmt.Sprintf("%dms", max(took, 0).Milliseconds())
	case took < time.Minute:
		return fmt.Sprintf("%.1fs", took.Truncate(time.Second/10).Seconds())
	default:
		return took.Round(time.Second).String()
	}
}

// whole formats a duration in whole seconds, at least one.
func whole(d time.Duration) string { return max(d.Round(time.Second), time.Second).String() }

// Count formats a number with the singular or plural of thing.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	plural := thing + "s"
	if stem, ok := strings.CutSuffix(thing, "y"); ok {
		plural = stem + "ies"
	}
	return fmt.Sprintf("%d %s", n, plural)
}

// Phrases are parts of a sentence, with commas between.
type Phrases []string

// Add adds a phrase, formatted as by fmt.Sprintf, if count isn't 0.
func (p *Phrases) Add(count int, format string, args ...any) {
	if count > 0 {
		*p = append(*p, fmt.Sprintf(format, args...))
	}
}

func (p Phrases) String() string { return strings.Join(p, ", ") }

// speed returns the time left and the rate, as far as they are known.
func speed(rate int64, left time.Duration) (words []string) {
	if left >= 0 {
		words = append(words, whole(left)+" left")
	}
	if rate > 0 {
		words = append(words, Megabytes(rate)+"/s")
	}
	return words
}

// Escape sequences of terminals.
const (
	Reset     = "\x1b[0m"
	Bold      = "\x1b[1m"
	Underline = "\x1b[4m"
	Red       = "\x1b[31m"
	Green     = "\x1b[32m"
	Yellow    = "\x1b[33m"
)

// Wrap breaks the lines of text so that none has more than width characters,
// if words allow it. A line that begins with a space, such as an item of a list
// or a command, stays as it is.
func Wrap(text string, width int) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if !strings.HasPrefix(l, " ") {
			lines[i] = wrapLine(l, width)
		}
	}
	return strings.Join(lines, "\n")
}

func wrapLine(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	var b strings.Builder
	used := 0
	for i, word := range strings.Split(text, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case used+1+n > width:
			b.WriteByte('\n')
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}
