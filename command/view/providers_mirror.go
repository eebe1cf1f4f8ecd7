package view

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

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
	v.report.Result = result
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
	v.report.dir, v.report.times = filepath.ToSlash(dir), v.activity.run
	return v.report
}

// mirrorReport is what became of a mirror.
type mirrorReport struct {
	mirror.Result
	dir   string
	times *run
}

// archiveObject is a package in a mirror, or in a repository.
func (r *run) archiveObject(p archivedir.Package) object {
	level, key := "", ""
	if p.Err == nil && !p.Present {
		level, key = p.Authentication.TrustLevel.String(), p.Authentication.KeyID
	}
	return slices.Concat(about(p.Selection, p.Platform), object{
		"path", filepath.ToSlash(p.Path), "present", p.Present, "source?", p.Source, "bytes", orNull(p.Bytes), "authentication?", level, "key_id?", key,
	}, r.span(p.Selection, p.Platform).object(), errorObject(p.Err))
}

// sumOfArchives counts packages, and the bytes of those that were fetched.
func sumOfArchives(packages []archivedir.Package) object {
	fetched, present, failed, bytes := 0, 0, 0, int64(0)
	for _, p := range packages {
		switch {
		case p.Err != nil:
			failed++
		case p.Present:
			present++
		default:
			fetched++
			bytes += p.Bytes
		}
	}
	return object{"fetched", fetched, "present", present, "failed", failed, "bytes", bytes}
}

// Text writes nothing: people were told before.
func (r mirrorReport) Text() string { return "" }

// JSON is what became of the mirror.
func (r mirrorReport) JSON() any {
	return object{
		"directory", r.dir, "packages", each(r.Packages, r.times.archiveObject), "pruned", orEmpty(r.Pruned), "waiting", orEmpty(r.Waiting),
		"summary", sumOfArchives(r.Packages),
	}
}
