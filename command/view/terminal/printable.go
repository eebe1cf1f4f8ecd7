package terminal

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"unicode"
)

// Printable makes foreign text harmless, such as a registry's warnings:
// it replaces control characters, escape sequences and characters that change the
// direction of text, and breaks commands of CI services. The text may
// have several lines.
func Printable(text string) string {
	return Inert(strings.Map(func(r rune) rune {
		if isObeyed(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, text))
}

// isObeyed reports whether a terminal or a page obeys a character instead of showing it: C0 and C1 controls,
// which begin escape sequences, bidirectional controls, and separators of lines and paragraphs.
func isObeyed(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// PrintableLine is Printable for text that has to stay on one line.
func PrintableLine(text string) string { return Printable(strings.ReplaceAll(text, "\n", `\n`)) }

// Inert puts spaces into text that CI services take for commands in the output of a job: "::error::" at
// the beginning of a line (GitHub), also after wrapping, "##[section]" and
// "##vso[task.setvariable]" anywhere (GitHub, Azure), "##teamcity[message]". Such commands can set variables and
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

// isCommand reports whether a text begins with any number of letters and "[".
func isCommand(text string) bool {
	return strings.HasPrefix(strings.TrimLeftFunc(text, isLetter), "[")
}

// PrintableJSON is Printable for JSON whose values must not change: it writes characters that a terminal or a CI service
// would obey as \u escapes.
func PrintableJSON(encoded []byte) []byte {
	var b bytes.Buffer
	for _, r := range strings.ReplaceAll(string(encoded), "##", `#\u0023`) {
		if r >= 0x7f && isObeyed(r) { // encoding/json has escaped those of ASCII already
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}

// LogHandler returns a handler that writes printable lines, as text or as JSON, because they have text of registries and clients, and CI
// services and terminals read them.
func LogHandler(to io.Writer, asJSON bool, options *slog.HandlerOptions) slog.Handler {
	if asJSON {
		return slog.NewJSONHandler(printed{to, PrintableJSON}, options)
	}
	return slog.NewTextHandler(printed{to, func(line []byte) []byte { return []byte(Printable(string(line))) }}, options)
}

// printed writes lines in their printable form.
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
