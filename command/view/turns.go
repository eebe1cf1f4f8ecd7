package view

import (
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// packageKey is what a package is known by.
type packageKey = terminal.Key

func keyOf(o event.Outcome) packageKey {
	return packageKey{Provider: o.Provider, Version: o.Version, Platform: o.Platform}
}

// turns puts the lines about packages into a fixed order, whichever is done first: those about one package are
// printed when all before it are done.
type turns []turn

// turn has the lines about one package.
type turn struct {
	key  packageKey
	told []line
	done bool // nothing more will come
}

// put keeps lines until their turn. Packages that aren't expected, or not any more, are left out.
func (t turns) put(key packageKey, done bool, lines ...line) {
	if i := slices.IndexFunc(t, func(w turn) bool { return w.key == key }); i >= 0 {
		t[i].told, t[i].done = append(t[i].told, lines...), t[i].done || done
	}
}

// take removes and returns the lines whose turn it is.
func (t *turns) take() (all []line) {
	for len(*t) > 0 {
		first := &(*t)[0]
		all = append(all, first.told...)
		if first.told = nil; !first.done {
			break
		}
		*t = (*t)[1:]
	}
	return all
}

// rest removes and returns all lines: an interrupted run doesn't finish every package.
func (t *turns) rest() (all []line) {
	for _, w := range *t {
		all = append(all, w.told...)
	}
	*t = nil
	return all
}

// uniqueWarnings are the warnings of sources in one order, each once.
func uniqueWarnings(warnings problem.List) problem.List {
	slices.SortStableFunc(warnings, func(a, b *problem.Problem) int { return strings.Compare(a.Detail, b.Detail) })
	return slices.CompactFunc(warnings, explain.SameProblem)
}
