package view

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// Mirror tells how a mirror is filled, in Terraform's words. It is for one
// goroutine at a time.
type Mirror struct {
	*archives
	report result.MirrorReport
}

// archives tells of packages that are worked on at once, of each when it is its turn.
type archives struct {
	Activity *Activity // shows what is under way
	out      humanPrinter
}

func newArchives(o Options, doing string) *archives {
	o.Platforms = true
	out, activity := openForPeople(o)
	if o.JSON {
		out.Out = terminal.Stream{Writer: io.Discard}
	}
	activity.out, activity.run.doing, activity.run.silent = out, doing, o.JSON
	return &archives{activity, out}
}

// Observe is for [providercache.Installer].Observe. Packages are shown in the
// order of providers, versions and platforms, whichever is done first.
func (v *archives) Observe(e event.Event) { v.Activity.Observe(e) }

func (v *archives) line(text string) { v.out.line(line{human: text}) }

// End prints the lines that are left, and returns what registries had to say.
func (v *archives) End() problem.List { return uniqueWarnings(v.Activity.end()) }

// NewMirror returns a Mirror that speaks as the options say.
func NewMirror(o Options) *Mirror { return &Mirror{archives: newArchives(o, mirroring)} }

// Skip reports a provider that is built in.
func (v *Mirror) Skip(p getproviders.Provider) {
	product := v.Activity.run.product
	v.Activity.run.head(p, line{human: fmt.Sprintf("- Skipping %s because it is built in to %s CLI", product.Short(p), product.Name)})
}

// End tells what was removed, and what will be, and returns what registries had to say.
func (v *Mirror) End(result mirror.Result) problem.List {
	warnings := v.archives.End()
	v.Activity.print(v.Activity.run.heads.rest())
	v.report.Result = result
	for _, name := range result.Pruned {
		v.line("- Removed " + name)
	}
	for _, name := range result.Waiting {
		v.line("- Not listed any more, to be removed by a later run: " + name)
	}
	return warnings
}

// Report is what became of a mirror so far, for programs; dir is where it is.
func (v *Mirror) Report(dir string) result.Result {
	v.report.Dir, v.report.Span = filepath.ToSlash(dir), v.Activity.run.span
	return v.report
}
