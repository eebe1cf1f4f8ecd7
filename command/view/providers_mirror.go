package view

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// Mirror tells how a mirror is filled, in the real tool's words. It is for one
// goroutine at a time.
type Mirror struct {
	out      *humanPrinter
	product  getproviders.Product
	doing    string // what is told to be done to a provider
	waiting  []mirrorTurn
	heads    []mirrorTurn // of providers that have no packages: built-in ones, and those without a version
	warnings problem.List
}

const mirroring = "Mirroring"

// mirrorTurn is what there is to say of a package, or of a provider without any,
// when all before it are done.
type mirrorTurn struct {
	provider getproviders.Provider
	path     string // of the archive; "": the turn is about the provider
	lines    []string
	done     bool
}

// NewMirror returns a Mirror that speaks as the options say.
func NewMirror(o Options) *Mirror {
	return &Mirror{out: newHumanPrinter(o), product: o.Product, doing: mirroring}
}

// Skip tells of a provider that is built in.
func (v *Mirror) Skip(p getproviders.Provider) {
	v.head(p, fmt.Sprintf("- Skipping %s because it is built in to %s CLI", v.product.Short(p), v.product.Name))
}

func (v *Mirror) head(p getproviders.Provider, text string) {
	v.heads = append(v.heads, mirrorTurn{provider: p, lines: []string{text}, done: true})
}

// Observe is for [providercache.Installer].Observe. Packages are told of in the
// order of providers, versions and platforms, whichever is done first.
func (v *Mirror) Observe(e providercache.Event) {
	switch e := e.(type) {
	case providercache.QueryWarning:
		v.warnings = append(v.warnings, registryWarning(v.product.Short(e.Provider), e.Warnings))
	case providercache.Failed:
		v.head(e.Provider, v.mirroring(e.Provider))
	case providercache.MirrorBegin:
		v.begin(e.Packages)
	case providercache.MirrorFetch:
		v.turn(e.Package, v.fetchText(e), false)
	case providercache.MirrorDone:
		v.turn(e.Package, mirrorDoneText(e.Package), true)
	}
}

func mirrorFetchText(p providercache.Mirrored) string {
	return fmt.Sprintf("  - Downloading package for %s...", p.Platform)
}

// fetchText is what the real tool says, where that does the same.
func (v *Mirror) fetchText(e providercache.MirrorFetch) string {
	if e.Local && v.doing != mirroring {
		return fmt.Sprintf("  - Taking package for %s from this machine...", e.Package.Platform)
	}
	return mirrorFetchText(e.Package)
}

func mirrorDoneText(p providercache.Mirrored) string {
	failed, _ := errors.AsType[*providercache.ProviderError](p.Err)
	switch {
	case failed != nil && failed.Step == providercache.StepMetadata: // it doesn't come to a MirrorFetch
		return mirrorFetchText(p)
	case p.Err != nil:
		return ""
	case p.Present:
		return fmt.Sprintf("  - Package for %s is there already", p.Platform)
	}
	text := "  - Package authenticated: " + p.Authentication.TrustLevel.String()
	for _, note := range p.Authentication.Notes {
		text += "\n    note: " + note
	}
	return text
}

func (v *Mirror) mirroring(p getproviders.Provider) string {
	return fmt.Sprintf("- %s %s...", v.doing, v.product.Short(p))
}

// begin puts all that is to be told into its order.
func (v *Mirror) begin(packages []providercache.Mirrored) {
	turns := v.heads
	v.heads = nil
	var last providercache.Selection
	for _, p := range packages {
		t := mirrorTurn{provider: p.Selection.Provider, path: p.Path}
		if s := p.Selection; s.Provider != last.Provider {
			t.lines = append(t.lines, v.mirroring(s.Provider))
		}
		if s := p.Selection; s.Provider != last.Provider || s.Version != last.Version {
			t.lines = append(t.lines, selectedText(s))
		}
		last = p.Selection
		turns = append(turns, t)
	}
	slices.SortStableFunc(turns, func(a, b mirrorTurn) int { return a.provider.Compare(b.provider) })
	v.waiting = turns
	v.tell()
}

func selectedText(s providercache.Selection) string {
	switch {
	case s.Locked:
		return fmt.Sprintf("  - Selected v%s to match dependency lock file", s.Version)
	case !s.Constraints.IsEmpty():
		return fmt.Sprintf("  - Selected v%s to meet constraints %s", s.Version, s.Constraints)
	default:
		return fmt.Sprintf("  - Selected v%s with no constraints", s.Version)
	}
}

// turn keeps a text until its turn.
func (v *Mirror) turn(p providercache.Mirrored, text string, done bool) {
	i := slices.IndexFunc(v.waiting, func(t mirrorTurn) bool { return t.path == p.Path })
	if i < 0 {
		return
	}
	if text != "" {
		v.waiting[i].lines = append(v.waiting[i].lines, text)
	}
	v.waiting[i].done = done
	v.tell()
}

// tell tells what has its turn.
func (v *Mirror) tell() {
	for len(v.waiting) > 0 {
		first := &v.waiting[0]
		for _, text := range first.lines {
			v.out.line(line{human: text})
		}
		if first.lines = nil; !first.done {
			return
		}
		v.waiting = v.waiting[1:]
	}
}

// End tells what was removed, and what will be, and returns what registries had to say.
func (v *Mirror) End(result providercache.MirrorResult) problem.List {
	v.waiting = append(v.waiting, v.heads...)
	for _, t := range v.waiting {
		for _, text := range t.lines {
			v.out.line(line{human: text})
		}
	}
	v.waiting, v.heads = nil, nil
	for _, name := range result.Pruned {
		v.out.line(line{human: "- Removed " + name})
	}
	for _, name := range result.Waiting {
		v.out.line(line{human: "- Not listed any more, to be removed by a later run: " + name})
	}
	slices.SortStableFunc(v.warnings, func(a, b *problem.Problem) int { return strings.Compare(a.Detail, b.Detail) })
	return slices.CompactFunc(v.warnings, sameProblem)
}

// Problems tells errors and warnings, as [Init.Problems] does.
func (v *Mirror) Problems(problems problem.List) { (&Init{out: v.out}).Problems(problems) }
