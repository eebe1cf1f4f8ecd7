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

// Mirror prints how a mirror is filled, in Terraform's words. It is for one goroutine at a time.
type Mirror struct {
	*Activity // shows running tasks
	done      mirror.Result
}

// newArchives returns a printer and an Activity for packages that are handled concurrently; each package's lines are printed in its turn.
func newArchives(o Options, doing string) (humanPrinter, *Activity) {
	o.Platforms = true
	out, activity := openForPeople(o)
	if o.JSON {
		out.Out = terminal.Stream{Writer: io.Discard}
	}
	activity.out, activity.run.doing, activity.run.silent = out, doing, o.JSON
	return out, activity
}

// NewMirror returns a Mirror with the options.
func NewMirror(o Options) *Mirror {
	_, activity := newArchives(o, mirroring)
	return &Mirror{Activity: activity}
}

// Skip reports a provider that is built in.
func (v *Mirror) Skip(p getproviders.Provider) {
	v.run.head(p, line{human: fmt.Sprintf("- Skipping %s because it is built in to %s CLI", v.run.Short(p), v.run.Product.Name)})
}

// End prints what was removed and what a later run will remove, and returns the registries' warnings.
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

// Report returns the result so far for programs; dir is the mirror's directory.
func (v *Mirror) Report(dir string) *result.Result { return result.Mirror(dir, v.done, v.run.span) }

// Lock prints how lock files change, in Terraform's words. It is for one
// goroutine at a time. With JSON it prints nothing before the report.
type Lock struct {
	*Activity
	out  humanPrinter
	dirs []explain.LockedDir
}

// NewLock returns a Lock with the options. Problems go to stderr, also with JSON.
func NewLock(o Options) *Lock {
	out, activity := newArchives(o, "")
	return &Lock{Activity: activity, out: out}
}

// Tell prints the result of a directory, after its lock file was written. With
// Check, it returns a problem that says what the file lacks.
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
		v.line(fmt.Sprintf("- Obtained %s checksums for %s; %s", v.run.Short(p.Provider), p.Platform, lockChange(p)))
		changed = changed || p.New || p.Extended
	}
	text := " has validated the lock file and found no need for changes."
	if changed {
		text = " has updated the lock file."
	}
	v.succeed(v.run.Product.Name + text)
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

// tellChecked returns a problem with the hashes that a lock file lacks, or prints that it lacks none.
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
			missing = append(missing, "\n  - "+hashedName(v.run.Product, p.Outcome)+": "+string(h))
		}
	}
	if len(missing) == 0 {
		v.succeed("The lock file has the checksums for all platforms.")
		return nil
	}
	return problem.Fail("lock_file_outdated", "Incomplete dependency lock file",
		"The lock file in %s lacks:%s\n\nTo add what is missing, run:\n  %s providers lock%s", d.Dir, strings.Join(missing, ""), v.run.Called, strings.Join(platforms, ""))
}

// Report returns the results of all directories for programs.
func (v *Lock) Report() *result.Result { return result.Lock(v.dirs, v.run.span) }

// Vendor prints what is vendored: providers as [Mirror] does. It is for one
// goroutine at a time. With JSON it prints nothing before the report.
type Vendor struct {
	*Activity
	several bool
	dirs    []result.Vendored // the last one is the current one
}

// NewVendor returns a Vendor with the options.
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

// Module reports a module that is vendored; tidied are its files that were changed so that git keeps all of it.
func (v *Vendor) Module(pkg modules.Package, hash string, tidied []string) {
	v.now().Modules = append(v.now().Modules, result.Object{"key", pkg.Key, "version?", pkg.Version, "hash", hash})
	for _, name := range tidied {
		v.line(fmt.Sprintf("  - %s of the module %s is changed so that git keeps all of it", name, pkg.Key))
	}
}

// Changed reports a file that was written beside the packages and modules.
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

// Packages adds outcomes to the report.
func (v *Vendor) Packages(packages []providercache.Outcome) {
	v.now().Packages = append(v.now().Packages, packages...)
}

// Checked prints the reasons why vendor would have something to do, or that there are none.
func (v *Vendor) Checked(reasons []CheckReason) {
	complete := len(reasons) == 0
	v.now().UpToDate, v.now().Reasons = &complete, result.Each(reasons, func(r CheckReason) any { return r })
	v.answer(reasons, "Nothing to do: everything is vendored.", "There is something to do for vendor")
}

// Done prints the last line.
func (v *Vendor) Done(text string) {
	v.out.line(line{gap: true, human: text})
}

// Several says that several directories follow, each after a call of Enter.
func (v *Vendor) Several() { v.several, v.dirs = true, nil }

// Enter says that what follows is about this one of several directories.
func (v *Vendor) Enter(dir string) {
	v.dirs = append(v.dirs, result.Vendored{Directory: dir})
	v.line(dir + ":")
}

// Report returns the result so far of the directory, or of several, for programs.
func (v *Vendor) Report() *result.Result {
	of := func(dir result.Vendored) result.Object { return dir.Object(v.run.span) }
	if v.several {
		return &result.Result{Programs: result.Object{"directories", result.Each(v.dirs, of)}}
	}
	return &result.Result{Programs: of(v.dirs[0])}
}
