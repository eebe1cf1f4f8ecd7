// Package view turns what happens during a command into words: lines for
// people, or JSON for programs. It reads source files to show what a problem
// is about, writes to the streams that it is given, and does nothing else.
//
// The rules:
//
//   - Results go to stdout, and errors to stderr. Warnings, progress and the
//     summary go to stderr if that is a terminal, else to stdout, where Terraform
//     has its warnings: what succeeds in a pipe writes nothing to stderr. Only if
//     stdout is for programs, warnings stay on stderr. With JSON everything goes to
//     stdout, one object a line, and stderr stays empty.
//   - Lines, headings and codes that Terraform has are Terraform's, to the
//     letter: programs look for them. What else there is to say of a provider
//     follows on lines of its own, indented, and in keys of JSON that
//     Terraform doesn't have. Explanations are tfdeps' own, and say what happened, why, and what
//     to do.
//   - What moves bytes or takes time is shown while it runs, by an [Activity]: by bars in a
//     terminal, which leave a line behind for each large download, else by a line every ten seconds. The last
//     line of an init sums it up. All amounts are in kB, MB and GB, as disks and networks have them. Programs get
//     objects of the type download_progress, a second apart, and no such line.
//   - Colour is for terminals, and not for those who asked for none by -no-color or
//     NO_COLOR. Everything can be understood without it. Problems stand in
//     boxes, except with -no-color, where Terraform draws none either.
//   - Paragraphs are wrapped to the terminal's width, else to 78 columns; lines
//     that begin with a space stay as they are.
//   - The lines of an installation come in one order, that of the providers'
//     addresses, whatever the network did; Terraform's order is random.
//   - What others wrote is shown to people without its control characters.
//   - Nothing here knows a secret, and nothing may learn one: the CLI
//     configuration, where tokens are, is never quoted.
package view

import (
	"io"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
)

// Stream is an output and what is known about it.
type Stream struct {
	io.Writer
	Terminal bool
	Color    bool // it is a terminal that understands escape sequences, for colours and for bars
	Width    int  // columns; 0: not known
	Height   int  // lines; 0: not known

	resized func() (width, height int) // what they are now; nil: what they were
}

// size is how large the terminal is now, in columns and lines; height is 0 if it isn't known.
func (s Stream) size() (width, height int) {
	width, height = s.Width, s.Height
	if s.resized != nil {
		if nowWidth, nowHeight := s.resized(); nowWidth > 0 {
			width, height = nowWidth, nowHeight
		}
	}
	if width <= 0 {
		width = unknownWidth
	}
	return max(width, 2), height
}

// Options says what is printed, and where.
type Options struct {
	Product getproviders.Product
	JSON    bool
	// JSONInto gets the same in JSON, beside the output for people; nil: it isn't written. With JSON it
	// has no effect.
	JSONInto io.Writer
	// Data says that stdout is for programs, although what is shown is for people.
	Data bool
	// Plain is what -no-color asks for: neither colours nor boxes. NoColor is what
	// the variable NO_COLOR asks for.
	Plain, NoColor bool
	// Similar says which similar problems people are shown as one.
	Similar        Similar
	Stdout, Stderr Stream
	// Now is for the time stamps of JSON, and to say how long something took.
	// It is called by many goroutines.
	Now func() time.Time
	// Progress says how it is shown what is under way.
	Progress Progress
	// NoBars has ProgressAuto show lines in terminals, too.
	NoBars bool
	// Platforms says that packages may be wanted for several platforms, which are named then.
	Platforms bool
	// Refresh is how often bars are drawn; 0: only when something happens.
	Refresh time.Duration
	// ReadFile gets the source file that a problem is about; nil: no source is shown.
	ReadFile func(name string) ([]byte, error)
}

// printer is one of the two ways to speak.
type printer interface {
	// version is the first thing that is said.
	version(own, because string)
	// message is a heading or a paragraph of the program itself.
	message(m message)
	// line is about one provider, in the words for people and for programs.
	line(l line)
	// gap sets off what follows from what came before.
	gap()
	// problems are shown in the order given.
	problems(all problem.List)
	// checked tells what there is to do, or that there is nothing.
	checked(reasons []CheckReason)
	// planned tells what an init would do.
	planned(product getproviders.Product, p InitPlan)
	// record is for programs alone.
	record(r record)
}

// both speaks in two ways.
type both struct{ people, programs printer }

func (b both) version(own, because string) {
	b.people.version(own, because)
	b.programs.version(own, because)
}

func (b both) message(m message) {
	b.people.message(m)
	b.programs.message(m)
}

func (b both) line(l line) {
	b.people.line(l)
	b.programs.line(l)
}

func (b both) gap() {
	b.people.gap()
	b.programs.gap()
}

func (b both) problems(all problem.List) {
	b.people.problems(all)
	b.programs.problems(all)
}

func (b both) checked(reasons []CheckReason) {
	b.people.checked(reasons)
	b.programs.checked(reasons)
}

func newJSONPrinter(o Options) *jsonPrinter {
	return &jsonPrinter{out: o.Stdout, product: o.Product, now: o.Now, sources: sources{read: o.ReadFile}}
}

func newHumanPrinter(o Options) *humanPrinter {
	h := &humanPrinter{out: o.Stdout, err: o.Stderr, warn: o.Stdout, plain: o.Plain, colorless: o.Plain || o.NoColor, similar: o.Similar, sources: sources{read: o.ReadFile}}
	h.apart = o.Product.Predecessor != nil
	if o.Stderr.Terminal || o.JSON || o.Data {
		h.warn = o.Stderr
	}
	return h
}

// Problems shows errors and warnings to people: first those that belong to no file,
// in the order given, then the others by file and position. What has been shown
// once isn't repeated. With Data or JSON, warnings go to stderr, too.
func Problems(o Options, problems problem.List) {
	out := newHumanPrinter(o)
	out.apart = true
	out.problems(ordered(problems))
}
