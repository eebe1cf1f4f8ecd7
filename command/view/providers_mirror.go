package view

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/archivedir"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/mirror"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// Mirror tells how a mirror is filled, in Terraform's words. It is for one
// goroutine at a time.
type Mirror struct {
	inTurn
	out    *humanPrinter
	doing  string // what is said to be done to a provider
	report mirrorReport
	heads  turns[string] // of providers that have no packages: built-in ones, and those without a version
}

const mirroring = "Mirroring"

// NewMirror returns a Mirror that speaks as the options say.
func NewMirror(o Options) *Mirror {
	o.Platforms = true
	out, activity := openForPeople(o)
	if o.JSON {
		out.out = Stream{Writer: io.Discard}
	}
	v := &Mirror{inTurn: newInTurn(activity, o), out: out, doing: mirroring}
	v.show = v.line
	return v
}

// Skip reports a provider that is built in.
func (v *Mirror) Skip(p getproviders.Provider) {
	v.head(p, fmt.Sprintf("- Skipping %s because it is built in to %s CLI", v.product.Short(p), v.product.Name))
}

func (v *Mirror) head(p getproviders.Provider, text string) {
	v.heads = append(v.heads, turn[string]{packageKey{provider: p}, []string{text}, true})
}

// Observe is for [providercache.Installer].Observe. Packages are shown in the
// order of providers, versions and platforms, whichever is done first.
func (v *Mirror) Observe(e event.Event) {
	v.activity.Observe(e)
	switch e := e.(type) {
	case event.WarningEvent:
		v.warned(e)
	case event.FailedEvent:
		v.head(e.Addr, v.mirroring(e.Addr))
	case archivedir.QueuedEvent:
		v.begin(e.Packages)
	case archivedir.FetchingEvent:
		v.begun(e.Package.Selection, e.Package.Platform, v.fetchText(e))
	case archivedir.DoneEvent:
		v.ended(e.Package.Selection, e.Package.Platform, mirrorDoneText(v.product, e.Package))
	}
	v.tell(v.turns.take())
}

func mirrorFetchText(p archivedir.Package) string {
	return fmt.Sprintf("  - Downloading package for %s...", p.Platform)
}

// fetchText is what Terraform says, where that does the same.
func (v *Mirror) fetchText(e archivedir.FetchingEvent) string {
	if e.Local && v.doing != mirroring {
		return fmt.Sprintf("  - Taking package for %s from this machine...", e.Package.Platform)
	}
	return mirrorFetchText(e.Package)
}

func mirrorDoneText(product getproviders.Product, p archivedir.Package) string {
	failed, _ := errors.AsType[*resolve.ProviderError](p.Err)
	switch {
	case failed != nil && failed.Step == resolve.StepMetadata: // it doesn't come to a FetchingEvent
		return mirrorFetchText(p)
	case p.Err != nil:
		return ""
	case p.Present:
		return fmt.Sprintf("  - Package for %s is there already", p.Platform)
	}
	text := "  - Package authenticated: " + trust(product, p.Authentication.TrustLevel)
	for _, note := range p.Authentication.Notes {
		text += "\n    note: " + note
	}
	return text
}

func (v *Mirror) mirroring(p getproviders.Provider) string {
	return fmt.Sprintf("- %s %s...", v.doing, v.product.Short(p))
}

// begin puts all that is to be shown into its order.
func (v *Mirror) begin(packages []archivedir.Package) {
	all := v.heads
	v.heads = nil
	var last resolve.Selection
	for _, p := range packages {
		t := turn[string]{key: keyOf(p.Selection, p.Platform)}
		if s := p.Selection; s.Provider != last.Provider {
			t.told = append(t.told, v.mirroring(s.Provider))
		}
		if s := p.Selection; s.Provider != last.Provider || s.Version != last.Version {
			t.told = append(t.told, selectedText(s))
		}
		last = p.Selection
		all = append(all, t)
	}
	slices.SortStableFunc(all, func(a, b turn[string]) int { return a.key.provider.Compare(b.key.provider) })
	v.turns = all
}

func selectedText(s resolve.Selection) string {
	switch {
	case s.Locked:
		return fmt.Sprintf("  - Selected v%s to match dependency lock file", s.Version)
	case !s.Constraints.IsEmpty():
		return fmt.Sprintf("  - Selected v%s to meet constraints %s", s.Version, s.Constraints)
	default:
		return fmt.Sprintf("  - Selected v%s with no constraints", s.Version)
	}
}

func (v *Mirror) line(text string) { v.out.line(line{human: text}) }

// End tells what was removed, and what will be, and returns what registries had to say.
func (v *Mirror) End(result mirror.Result) problem.List {
	warnings := v.end()
	v.tell(v.heads.rest())
	v.report.Packages, v.report.Pruned, v.report.Waiting = v.packages(result.Packages), result.Pruned, result.Waiting
	for _, name := range result.Pruned {
		v.line("- Removed " + name)
	}
	for _, name := range result.Waiting {
		v.line("- Not listed any more, to be removed by a later run: " + name)
	}
	return warnings
}

// LockedMismatch says that lock files don't fit what configurations require, in
// Terraform's words.
func LockedMismatch(product getproviders.Product, dir, reason string) *problem.Problem {
	return problem.CodedError("locked_version", "Inconsistent dependency lock file", fmt.Sprintf(
		"The lock file in %s doesn't fit the configuration: %s.\n\n"+
			"To update the locked dependency selections to match a changed configuration, run:\n  %s init -upgrade", dir, reason, product.Program))
}

// Report is what became of a mirror so far, for programs; dir is where it is.
func (v *Mirror) Report(dir string) Result {
	v.report.Dir = filepath.ToSlash(dir)
	return v.report
}

// mirrorReport is what became of a mirror.
type mirrorReport struct {
	Format   string          `json:"format_version"`
	Dir      string          `json:"directory"`
	Packages []jsonArchive   `json:"packages"`
	Pruned   []string        `json:"pruned"`
	Waiting  []string        `json:"waiting"`
	Sum      jsonArchivesSum `json:"summary"`
	jsonRun
}

// jsonArchive is a package in a mirror, or in a repository.
type jsonArchive struct {
	jsonPackage
	Path           string `json:"path"`
	Present        bool   `json:"present"`
	Source         string `json:"source,omitempty"`
	Bytes          *int64 `json:"bytes"`
	Authentication string `json:"authentication,omitempty"`
	KeyID          string `json:"key_id,omitempty"`
	jsonSpan
	*jsonFailure
}

// jsonArchivesSum counts packages.
type jsonArchivesSum struct {
	Fetched int   `json:"fetched"`
	Present int   `json:"present"`
	Failed  int   `json:"failed"`
	Bytes   int64 `json:"bytes"` // of the archives that were fetched
}

// packages are those of a result, in its order.
func (v *Mirror) packages(all []archivedir.Package) (out []jsonArchive) {
	for _, p := range all {
		shown := jsonArchive{
			jsonPackage: jsonPackage{p.Selection.Provider, p.Selection.Version, p.Platform}, Path: filepath.ToSlash(p.Path), Present: p.Present, Source: p.Source, Bytes: known(p.Bytes),
			jsonSpan: newJSONSpan(v.spans[keyOf(p.Selection, p.Platform)]), jsonFailure: newJSONFailure(p.Err),
		}
		if p.Err == nil && !p.Present {
			shown.Authentication, shown.KeyID = p.Authentication.TrustLevel.String(), p.Authentication.KeyID
		}
		out = append(out, shown)
	}
	return out
}

func sumOfArchives(packages []jsonArchive) (sum jsonArchivesSum) {
	for _, p := range packages {
		switch {
		case p.jsonFailure != nil:
			sum.Failed++
		case p.Present:
			sum.Present++
		default:
			sum.Fetched++
			if p.Bytes != nil {
				sum.Bytes += *p.Bytes
			}
		}
	}
	return sum
}

// Text writes nothing: people were told before.
func (r mirrorReport) Text() string { return "" }

// JSON writes what became of the mirror.
func (r mirrorReport) JSON(run Run) any {
	r.Format, r.Sum, r.jsonRun = resultFormat, sumOfArchives(r.Packages), newJSONRun(run)
	r.Packages, r.Pruned, r.Waiting = orEmpty(r.Packages), orEmpty(r.Pruned), orEmpty(r.Waiting)
	return r
}
