package vendored

import (
	"path"
	"slices"
	"strings"
)

// mayIgnore reports whether a line of a .gitignore may have git ignore a file or
// a directory above it. The name is slash-separated and relative to the
// directory of the .gitignore. It is never wrong in saying no: lines that take
// something back aren't looked at, case doesn't matter, and what isn't understood
// may match anything.
func mayIgnore(line, name string) bool {
	line = strings.TrimRight(strings.TrimRight(line, "\r\n"), " \t")
	if line == "" || line[0] == '#' || line[0] == '!' {
		return false
	}
	pattern := strings.ToLower(strings.TrimSuffix(line, "/"))
	pattern = strings.ReplaceAll(pattern, "[!", "[^")
	parts, own := strings.Split(strings.ToLower(name), "/"), strings.Split(strings.TrimPrefix(pattern, "/"), "/")
	odd := func(part string) bool { return part != "**" && strings.Contains(part, "**") }
	switch {
	case strings.Contains(pattern, "[:") || slices.ContainsFunc(own, odd):
		return true
	case !strings.Contains(pattern, "/"):
		return slices.ContainsFunc(parts, func(part string) bool { return mayMatch(pattern, part) })
	}
	return matchesAbove(own, parts)
}

// matchesAbove reports whether a pattern matches the first of these parts.
func matchesAbove(pattern, parts []string) bool {
	// reached[i] says that the pattern so far matches the first i parts.
	reached := make([]bool, len(parts)+1)
	reached[0] = true
	for _, p := range pattern {
		next := make([]bool, len(parts)+1)
		for i := range reached {
			switch {
			case p == "**":
				next[i] = reached[i] || i > 0 && next[i-1]
			case i > 0:
				next[i] = reached[i-1] && mayMatch(p, parts[i-1])
			}
		}
		reached = next
	}
	return slices.Contains(reached, true)
}

// mayMatch compares a pattern with one name.
func mayMatch(pattern, name string) bool {
	matched, err := path.Match(pattern, name)
	return matched || err != nil
}

// harmless are attributes that change neither what is in a repository nor what
// is in a clone.
var harmless = []string{
	"-text", "binary", "-crlf", "-ident", "!ident", "-filter", "!filter", "!eol",
	"diff", "merge", "whitespace", "export-ignore", "export-subst", "delta", "encoding", "conflict-marker-size",
}

// changesFiles reports whether a line of a .gitattributes may have git change
// the content of files on their way. It is never wrong in saying no.
func changesFiles(line string) bool {
	fields := strings.Fields(line)
	if len(fields) == 0 || fields[0][0] == '#' {
		return false
	}
	if fields[0][0] == '"' { // the pattern may have spaces
		return true
	}
	return slices.ContainsFunc(fields[1:], func(attribute string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(attribute, "-!"), "=")
		known := slices.Contains(harmless, attribute) || slices.Contains(harmless, name)
		return !known && !strings.HasPrefix(name, "linguist-") && !strings.HasPrefix(name, "gitlab-")
	})
}
