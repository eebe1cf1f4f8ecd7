package cliconfig

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// harmless are the settings whose values are no secrets, and can be shown.
var harmless = []string{"path", "include", "exclude", "plugin_cache_dir", "plugin_cache_may_break_dependency_lock_file", "disable_checkpoint",
	"disable_checkpoint_signature", "provider_installation", "filesystem_mirror", "network_mirror", "direct", "dev_overrides"}

// secretive are the other settings. What their values are is never shown.
var secretive = []string{"token", "url", "args", "services", "credentials", "credentials_helper", "host"}

// setting takes a line apart: the name at its beginning, the sign behind that ("=", ":" or
// none), and the value. The name is "" if the line begins with none.
func setting(line string) (name, sign, value string) {
	rest := strings.TrimSpace(line)
	quoted := strings.HasPrefix(rest, `"`)
	rest = strings.TrimPrefix(rest, `"`)
	isName := func(r rune) bool {
		return r == '_' || r == '-' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return !isName(r) })
	if end < 0 {
		end = len(rest)
	}
	name, rest = rest[:end], rest[end:]
	if quoted {
		rest = strings.TrimPrefix(rest, `"`)
	}
	rest = strings.TrimSpace(rest)
	if strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, ":") {
		sign, rest = rest[:1], strings.TrimSpace(rest[1:])
	}
	return name, sign, rest
}

// isBare reports whether a value begins with a word or a sign that would have to be in quotes.
func isBare(value string) bool {
	return value != "" && value != "true" && value != "false" && !strings.ContainsAny(value[:1], "\"[{<0123456789")
}

// lineOf returns a line of a file, counted from 1.
func lineOf(src []byte, line int) string {
	lines := bytes.Split(src, []byte("\n"))
	if line < 1 || line > len(lines) {
		return ""
	}
	return string(bytes.TrimRight(lines[line-1], "\r"))
}

// explained is the text of a syntax error, or says that quotes are missing, where the line shows that.
func explained(err *syntaxError, src []byte) string {
	name, sign, value := setting(lineOf(src, err.line))
	if !slices.Contains(harmless, name) && !slices.Contains(secretive, name) || sign != "=" || !isBare(value) {
		return err.text
	}
	text := fmt.Sprintf("quotes are missing around the value of %q", name)
	if slices.Contains(harmless, name) {
		text += fmt.Sprintf(", which has to be %s = %.200q", name, value)
	}
	return text
}

// shownLine is a line of a file as it can be shown to people, below an empty one: without
// the value, if that may be a secret. It is "" if nothing of the line may be shown.
func shownLine(src []byte, line int) string {
	text := lineOf(src, line)
	name, sign, value := setting(text)
	switch {
	case slices.Contains(harmless, name):
		return fmt.Sprintf("\n\n  %d: %.200s", line, text)
	case slices.Contains(secretive, name) && sign != "" && value != "":
		return fmt.Sprintf("\n\n  %d: %s %s ...", line, name, sign)
	default:
		return ""
	}
}
