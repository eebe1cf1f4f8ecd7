package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
)

// unknownVariables warns of variables that are named like those of tfdeps, and mean nothing to it.
func unknownVariables(env cli.Environment) (warnings problem.List) {
	known := ownVariables()
	var seen []string
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "TFDEPS_") || value == "" || slices.Contains(known, name) || slices.Contains(seen, name) || isOwnElsewhere(name) {
			continue
		}
		seen = append(seen, name)
		detail := fmt.Sprintf("tfdeps knows no variable %s, and does nothing with it.", name)
		if meant := cli.Closest(name, known); meant != "" {
			detail += fmt.Sprintf(" Did you mean %s?", meant)
		}
		warnings = append(warnings, problem.Warningf("invalid_variable", "Unknown variable "+name,
			"%s\n\nThis command lists all variables:\n  tfdeps help", detail))
	}
	return warnings
}

// ownVariables are those that the help names, sorted.
func ownVariables() (names []string) {
	isName := func(r rune) bool { return r == '_' || r >= 'A' && r <= 'Z' }
	for _, word := range strings.FieldsFunc(usage, func(r rune) bool { return !isName(r) }) {
		if strings.HasPrefix(word, "TFDEPS_") {
			names = append(names, word)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// isOwnElsewhere reports whether a variable is for one command alone, or for programs below
// this one.
func isOwnElsewhere(name string) bool {
	return name == passesVariable || strings.HasPrefix(name, cli.ArgumentsVariable+"_")
}
