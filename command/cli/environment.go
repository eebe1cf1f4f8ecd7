package cli

import (
	"runtime"
	"slices"
	"strings"
)

// Environment is a program's environment, as os.Environ returns it.
type Environment []string

// Get returns the value of a variable, "" if it isn't set.
func (e Environment) Get(name string) string {
	for _, entry := range slices.Backward(e) {
		key, value, ok := strings.Cut(entry, "=")
		if ok && SameName(key, name) {
			return value
		}
	}
	return ""
}

// With returns the environment with variables added or replaced.
func (e Environment) With(entries ...string) Environment {
	return slices.Concat(e, entries)
}

// SameName reports whether two names are of one variable, which on Windows don't
// differ by case.
func SameName(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// ArgumentsVariable has more arguments for every command, and with "_" and a
// command's name behind it for that command.
const ArgumentsVariable = "TFDEPS_CLI_ARGS"
