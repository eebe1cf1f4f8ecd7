package view

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/archivedir"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// Mirror tells how a mirror is filled, in Terraform's words. It is for one
// goroutine at a time.
type Mirror struct {
	*archives
	report mirrorReport
}

// archives tells of packages that are worked on at once, of each when it is its turn.
type archives struct {
	activity *Activity
	out      *humanPrinter
}

func newArchives(o Options, doing string) *archives {
	o.Platforms = true
	out, activity := openForPeople(o)
	if o.JSON {
		out.out = Stream{Writer: io.Discard}
	}
	activity.out, activity.run.doing = out, doing
	return &archives{activity, out}
}

// Activity is what shows what is under way.
func (v *archives) Activity() *Activity { return v.activity }

// Observe is for [providercache.Installer].Observe. Packages are shown in the
// order of providers, versions and platforms, whichever is done first.
func (v *archives) Observe(e event.Event) { v.activity.Observe(e) }

func (v *archives) line(text string) { v.out.line(line{human: text}) }

func (v *archives) end() problem.List { return uniqueWarnings(v.activity.end()) }

// NewMirror returns a Mirror that speaks as the options say.
func NewMirror(o Options) *Mirror { return &Mirror{archives: newArchives(o, mirroring)} }

// Skip reports a provider that is built in.
func (v *Mirror) Skip(p getproviders.Provider) {
	product := v.activity.run.product
	v.activity.run.head(p, line{human: fmt.Sprintf("- Skipping %s because it is built in to %s CLI", product.Short(p), product.Name)})
}

// End tells what was removed, and what will be, and returns what registries had to say.
func (v *Mirror) End(result mirror.Result) problem.List {
	warnings := v.end()
	v.activity.print(v.activity.run.heads.rest())
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
	Dir      string          `json:"directory"`
	Packages []jsonArchive   `json:"packages"`
	Pruned   []string        `json:"pruned"`
	Waiting  []string        `json:"waiting"`
	Sum      jsonArchivesSum `json:"summary"`
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
			jsonPackage: selected(p.Selection, p.Platform), Path: filepath.ToSlash(p.Path), Present: p.Present, Source: p.Source, Bytes: known(p.Bytes),
			jsonSpan: newJSONSpan(v.activity.run.span(p.Selection, p.Platform)), jsonFailure: newJSONFailure(p.Err),
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
func (r mirrorReport) JSON() any {
	r.Sum = sumOfArchives(r.Packages)
	r.Packages, r.Pruned, r.Waiting = orEmpty(r.Packages), orEmpty(r.Pruned), orEmpty(r.Waiting)
	return r
}
