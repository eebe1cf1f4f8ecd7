package terminal

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"unicode"
)

// Printable makes text harmless that others wrote, a registry's warnings for
// instance: no control character reaches the terminal, none that makes it show
// the rest in another order, and no command reaches a CI service. The text may
// have several lines.
func Printable(text string) string {
	return Inert(strings.Map(func(r rune) rune {
		if isObeyed(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, text))
}

// isObeyed reports whether a terminal, or a page, does something at a character in place of showing it: controls (also
// those behind ASCII, which begin escape sequences too), changes of direction, ends of lines.
func isObeyed(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// PrintableLine is Printable for what has to stay in its line.
func PrintableLine(text string) string { return Printable(strings.ReplaceAll(text, "\n", `\n`)) }

// Inert puts spaces into what CI services take for commands in the output of a job: "::error::" at
// the beginning of a line (GitHub), also of one that wrapping makes, "##[section]" and
// "##vso[task.setvariable]" anywhere (GitHub, Azure), "##teamcity[message]". They set variables and
// paths of later steps.
func Inert(text string) string {
	if !strings.Contains(text, "::") && !strings.Contains(text, "##") {
		return text
	}
	var b strings.Builder
	before := '\n'
	for i, r := range text {
		rest := text[i:]
		b.WriteRune(r)
		switch {
		case r == ':' && unicode.IsSpace(before) && strings.HasPrefix(rest, "::") && strings.TrimLeftFunc(rest[2:], isLetter) != rest[2:],
			r == '#' && strings.HasPrefix(rest, "##") && isCommand(rest[2:]):
			b.WriteByte(' ')
		}
		before = r
	}
	return b.String()
}

func isLetter(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' }

// isCommand reports whether a text has letters, or none, and then "[".
func isCommand(text string) bool {
	return strings.HasPrefix(strings.TrimLeftFunc(text, isLetter), "[")
}

// PrintableJSON is Printable for JSON whose texts have to stay what they are: in them, what a terminal or a CI service
// would obey is written in a form that says the same.
func PrintableJSON(encoded []byte) []byte {
	var b bytes.Buffer
	for _, r := range strings.ReplaceAll(string(encoded), "##", `#\u0023`) {
		if r >= 0x7f && isObeyed(r) { // those of ASCII that are in texts are written so already
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}

// LogHandler writes the lines of a log, as text or as JSON. What registries and clients say is in them, and CI
// services and terminals read them.
func LogHandler(to io.Writer, asJSON bool, options *slog.HandlerOptions) slog.Handler {
	if asJSON {
		return slog.NewJSONHandler(printed{to, PrintableJSON}, options)
	}
	return slog.NewTextHandler(printed{to, func(line []byte) []byte { return []byte(Printable(string(line))) }}, options)
}

// printed writes lines in the form in which they may be shown.
type printed struct {
	to        io.Writer
	printable func(line []byte) []byte
}

// Write implements io.Writer.
func (p printed) Write(line []byte) (int, error) {
	if _, err := p.to.Write(p.printable(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}
