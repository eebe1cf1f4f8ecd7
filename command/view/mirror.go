package view

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// Mirror tells how a mirror is filled, in Terraform's words. It is for one
// goroutine at a time.
type Mirror struct {
	*Activity // shows what is under way
	done      mirror.Result
}

// newArchives returns what tells of packages that are worked on at once, of each when it is its turn.
func newArchives(o Options, doing string) (humanPrinter, *Activity) {
	o.Platforms = true
	out, activity := openForPeople(o)
	if o.JSON {
		out.Out = terminal.Stream{Writer: io.Discard}
	}
	activity.out, activity.run.doing, activity.run.silent = out, doing, o.JSON
	return out, activity
}

// NewMirror returns a Mirror that speaks as the options say.
func NewMirror(o Options) *Mirror {
	_, activity := newArchives(o, mirroring)
	return &Mirror{Activity: activity}
}

// Skip reports a provider that is built in.
func (v *Mirror) Skip(p getproviders.Provider) {
	product := v.run.product
	v.run.head(p, line{human: fmt.Sprintf("- Skipping %s because it is built in to %s CLI", product.Short(p), product.Name)})
}

// End tells what was removed, and what will be, and returns what registries had to say.
func (v *Mirror) End(done mirror.Result) problem.List {
	warnings := v.Activity.End()
	v.print(v.run.heads.rest())
	v.done = done
	for _, name := range done.Pruned {
		v.line("- Removed " + name)
	}
	for _, name := range done.Waiting {
		v.line("- Not listed any more, to be removed by a later run: " + name)
	}
	return warnings
}

// Report is what became of a mirror so far, for programs; dir is where it is.
func (v *Mirror) Report(dir string) *result.Result { return result.Mirror(dir, v.done, v.run.span) }

// Lock tells what becomes of lock files, in Terraform's words. It is for one
// goroutine at a time. With JSON it tells nothing before the report.
type Lock struct {
	*Activity
	out  humanPrinter
	dirs []explain.LockedDir
}

// NewLock returns a Lock that speaks as the options say. Problems go to stderr,
// also with JSON.
func NewLock(o Options) *Lock {
	out, activity := newArchives(o, "")
	return &Lock{Activity: activity, out: out}
}

// Tell says what became of a directory, after its lock file was written. With
// Check, the problem returned says what the file lacks.
func (v *Lock) Tell(d explain.LockedDir) problem.List {
	v.dirs = append(v.dirs, d)
	if d.Result.Err != nil {
		return nil
	}
	if d.Named {
		v.line("\n" + d.Dir + ":")
	}
	if d.Check {
		return v.tellChecked(d)
	}
	changed := false
	for _, p := range d.Result.Packages {
		v.line(fmt.Sprintf("- Obtained %s checksums for %s; %s", v.run.product.Short(p.Provider), p.Platform, lockChange(p)))
		changed = changed || p.New || p.Extended
	}
	text := v.run.product.Name + " has validated the lock file and found no need for changes."
	if changed {
		text = v.run.product.Name + " has updated the lock file."
	}
	v.succeed(text)
	if changed {
		v.line("\nReview the changes in " + depsfile.FileName + " and then commit to your\nversion control system to retain the new checksums.\n")
	}
	return nil
}

// lockChange says how the hashes of a package change the lock file.
func lockChange(p providercache.LockedPackage) string {
	switch {
	case p.New:
		return "This was a new provider and the checksums for this platform are now tracked in the lock file"
	case p.Extended:
		return "Additional checksums for this platform are now tracked in the lock file"
	}
	return "All checksums for this platform were already tracked in the lock file"
}

func (v *Lock) succeed(text string) {
	fmt.Fprintf(v.out.Out, "\n%s %s\n", v.out.Paint(v.out.Out, "Success!", terminal.Bold+terminal.Green), v.out.Paint(v.out.Out, text, terminal.Bold))
}

// tellChecked says what a lock file lacks.
func (v *Lock) tellChecked(d explain.LockedDir) problem.List {
	var missing, platforms []string
	for _, p := range d.Result.Packages {
		if len(p.Missing) == 0 {
			continue
		}
		if option := " -platform=" + p.Platform.String(); !slices.Contains(platforms, option) {
			platforms = append(platforms, option)
		}
		for _, h := range p.Missing {
			missing = append(missing, "\n  - "+hashedName(v.run.product, p.Outcome)+": "+string(h))
		}
	}
	if len(missing) == 0 {
		v.succeed("The lock file has the checksums for all platforms.")
		return nil
	}
	return problem.Fail("lock_file_outdated", "Incomplete dependency lock file",
		"The lock file in %s lacks:%s\n\nTo add what is missing, run:\n  tfdeps providers lock%s", d.Dir, strings.Join(missing, ""), strings.Join(platforms, ""))
}

// Report is what became of all directories, for programs.
func (v *Lock) Report() *result.Result { return result.Lock(v.dirs, v.run.span) }

// Vendor tells what is vendored: providers as [Mirror] does. It is for one
// goroutine at a time. With JSON it tells nothing before the report.
type Vendor struct {
	*Activity
	several bool
	dirs    []result.Vendored // the last one is the one that all is about
}

// NewVendor returns a Vendor that speaks as the options say.
func NewVendor(o Options) *Vendor {
	_, activity := newArchives(o, "Vendoring")
	return &Vendor{Activity: activity, dirs: make([]result.Vendored, 1)}
}

func (v *Vendor) now() *result.Vendored { return &v.dirs[len(v.dirs)-1] }

// ObserveModules is for [modules.Resolver].Observe.
func (v *Vendor) ObserveModules(e modules.Event) {
	if d, ok := e.(modules.Downloading); ok {
		text := fmt.Sprintf("- Fetching module %s from %s", d.Key, d.Package)
		if d.Version != "" {
			text += " " + d.Version
		}
		v.line(text + "...")
	}
}

// Module reports a module that is vendored.
func (v *Vendor) Module(pkg modules.Package, hash string, tidied []string) {
	v.now().Modules = append(v.now().Modules, result.Object{"key", pkg.Key, "version?", pkg.Version, "hash", hash})
	for _, name := range tidied {
		v.line(fmt.Sprintf("  - %s of the module %s is changed so that git keeps all of it", name, pkg.Key))
	}
}

// Changed reports a file beside what is vendored.
func (v *Vendor) Changed(name string) {
	v.now().Changed = append(v.now().Changed, name)
	v.line("- Wrote " + name)
}

// Removed reports something that isn't needed any more.
func (v *Vendor) Removed(names ...string) {
	for _, name := range names {
		v.now().Removed = append(v.now().Removed, name)
		v.line("- Removed " + name)
	}
}

// Packages takes the result for the report.
func (v *Vendor) Packages(packages []providercache.Outcome) {
	v.now().Packages = append(v.now().Packages, packages...)
}

// Checked answers whether there would be anything to do.
func (v *Vendor) Checked(reasons []CheckReason) {
	complete := len(reasons) == 0
	v.now().UpToDate, v.now().Reasons = &complete, result.Each(reasons, func(r CheckReason) any { return r })
	v.answer(reasons, "Nothing to do: everything is vendored.", "There is something to do for vendor")
}

// Done tells the last line.
func (v *Vendor) Done(text string) {
	v.out.line(line{gap: true, human: text})
}

// Several says that directories follow, which Enter names.
func (v *Vendor) Several() { v.several, v.dirs = true, nil }

// Enter has all that follows be about a directory of several.
func (v *Vendor) Enter(dir string) {
	v.dirs = append(v.dirs, result.Vendored{Directory: dir})
	v.line(dir + ":")
}

// Report is what became of the directory so far, or of several, for programs.
func (v *Vendor) Report() *result.Result {
	of := func(dir result.Vendored) result.Object { return dir.Object(v.run.span) }
	if v.several {
		return &result.Result{Programs: result.Object{"directories", result.Each(v.dirs, of)}}
	}
	return &result.Result{Programs: of(v.dirs[0])}
}
