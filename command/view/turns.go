package view

import (
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
)

// turns shows what there is to say of packages in a fixed order, whichever is done
// first: of each when all before it are done. K is what a package is known by.
type turns[K comparable] struct {
	show    func(text string)
	waiting []turn[K]
}

// turn is what there is to say of one package.
type turn[K comparable] struct {
	key   K
	lines []string
	done  bool
}

// put keeps a text until its turn, and shows what has its turn now. Packages that
// aren't expected are left out.
func (t *turns[K]) put(key K, text string, done bool) {
	i := slices.IndexFunc(t.waiting, func(w turn[K]) bool { return w.key == key })
	if i < 0 {
		return
	}
	if text != "" {
		t.waiting[i].lines = append(t.waiting[i].lines, text)
	}
	t.waiting[i].done = done
	t.advance()
}

// advance shows what has its turn.
func (t *turns[K]) advance() {
	for len(t.waiting) > 0 {
		first := &t.waiting[0]
		for _, text := range first.lines {
			t.show(text)
		}
		if first.lines = nil; !first.done {
			return
		}
		t.waiting = t.waiting[1:]
	}
}

// end shows what is left.
func (t *turns[K]) end() {
	for _, w := range t.waiting {
		for _, text := range w.lines {
			t.show(text)
		}
	}
	t.waiting = nil
}

// uniqueWarnings are the warnings of sources in one order, each once.
func uniqueWarnings(warnings problem.List) problem.List {
	slices.SortStableFunc(warnings, func(a, b *problem.Problem) int { return strings.Compare(a.Detail, b.Detail) })
	return slices.CompactFunc(warnings, sameProblem)
}
