package command

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
		if ok && sameName(key, name) {
			return value
		}
	}
	return ""
}

// With returns the environment with variables added or replaced.
func (e Environment) With(entries ...string) Environment {
	return slices.Concat(e, entries)
}

func sameName(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}
