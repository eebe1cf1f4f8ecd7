package view

import (
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// packageKey is what a package of a provider, or of modules, is known by. A zero version or platform
// stands for all of them when a task is looked for.
type packageKey struct {
	provider getproviders.Provider
	version  getproviders.Version
	platform getproviders.Platform
	module   string
	dir      string // of a package that is only verified
}

func keyOf(s resolve.Selection, platform getproviders.Platform) packageKey {
	return packageKey{provider: s.Provider, version: s.Version, platform: platform}
}

// turns puts what there is to tell of packages into a fixed order, whichever is done first: what there is
// of one is told when all before it are done. T is an event, or a text.
type turns[T any] []turn[T]

// turn is what there is to tell of one package.
type turn[T any] struct {
	key  packageKey
	told []T
	done bool // nothing more will come
}

// put keeps things until their turn. Packages that aren't expected, or not any more, are left out.
func (t turns[T]) put(key packageKey, done bool, things ...T) {
	if i := slices.IndexFunc(t, func(w turn[T]) bool { return w.key == key }); i >= 0 {
		t[i].told, t[i].done = append(t[i].told, things...), t[i].done || done
	}
}

// take removes and returns what has its turn.
func (t *turns[T]) take() (all []T) {
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

// rest removes and returns all.
func (t *turns[T]) rest() (all []T) {
	for _, w := range *t {
		all = append(all, w.told...)
	}
	*t = nil
	return all
}

// inTurn tells of packages that are worked on at once, of each when it is its turn.
type inTurn struct {
	activity *Activity
	product  getproviders.Product
	now      func() time.Time
	show     func(text string)
	turns    turns[string]
	spans    spans
	warnings problem.List
}

func newInTurn(a *Activity, o Options) inTurn {
	return inTurn{activity: a, product: o.Product, now: o.Now, spans: spans{}}
}

// Activity is what shows what is under way.
func (v *inTurn) Activity() *Activity { return v.activity }

func (v *inTurn) warned(e event.WarningEvent) {
	v.warnings = append(v.warnings, registryWarning(v.product.Short(e.Addr), e.Warnings))
}

func (v *inTurn) begun(s resolve.Selection, platform getproviders.Platform, text string) {
	key := keyOf(s, platform)
	v.spans.begin(key, v.now())
	v.turns.put(key, false, text)
}

func (v *inTurn) ended(s resolve.Selection, platform getproviders.Platform, text string) {
	key := keyOf(s, platform)
	v.spans.end(key, v.now())
	v.turns.put(key, true, text)
}

func (v *inTurn) tell(texts []string) {
	for _, text := range texts {
		v.show(text)
	}
}

// end tells what is left, and returns what registries had to say.
func (v *inTurn) end() problem.List {
	v.activity.Close()
	v.tell(v.turns.rest())
	return uniqueWarnings(v.warnings)
}

// uniqueWarnings are the warnings of sources in one order, each once.
func uniqueWarnings(warnings problem.List) problem.List {
	slices.SortStableFunc(warnings, func(a, b *problem.Problem) int { return strings.Compare(a.Detail, b.Detail) })
	return slices.CompactFunc(warnings, sameProblem)
}
