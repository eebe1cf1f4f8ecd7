package view

import (
	"bytes"
	"strings"
	"unicode"
)

// printable makes text harmless that others wrote, a registry's warnings for
// instance: no control character reaches the terminal, none that makes it show
// the rest in another order, and no command reaches a CI service.
func printable(text string) string {
	return inert(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return unicode.ReplacementChar
		}
		return r
	}, text))
}

// inert puts spaces into what CI services take for commands in the output of a job: "::error::" at
// the beginning of a line (GitHub), also of one that wrapping makes, "##[section]" and
// "##vso[task.setvariable]" anywhere (GitHub, Azure), "##teamcity[message]". They set variables and
// paths of later steps.
func inert(text string) string {
	if !strings.Contains(text, "::") && !strings.Contains(text, "##") {
		return text
	}
	var b strings.Builder
	before := '\n'
	for i, r := range text {
		rest := text[i:]
		b.WriteRune(r)
		switch {
		case r == ':' && unicode.IsSpace(before) && strings.HasPrefix(rest, "::") && startsWithLetter(rest[2:]),
			r == '#' && strings.HasPrefix(rest, "##") && isCommand(rest[2:]):
			b.WriteByte(' ')
		}
		before = r
	}
	return b.String()
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func startsWithLetter(text string) bool { return text != "" && isLetter(text[0]) }

// isCommand reports whether a text has letters, or none, and then "[".
func isCommand(text string) bool {
	i := 0
	for i < len(text) && isLetter(text[i]) {
		i++
	}
	return i < len(text) && text[i] == '['
}

// inertJSON writes "##", which can only be in a text, in a form that says the same and is no command.
func inertJSON(encoded []byte) []byte {
	return bytes.ReplaceAll(encoded, []byte("##"), []byte(`#\u0023`))
}
